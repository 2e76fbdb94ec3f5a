"""`{{…}}`: what it stands for, where it is resolved, and that it never loops or grows without end."""

from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.environments.rig import NOW, load, project, refused, service, warned

from argus.core.errors import ArgusError
from argus.environments.e2e import dotenv
from argus.environments.e2e.variables import Variables, resolve, settled, substitute

VARIABLES = Variables(
    env={"A": "a", "BRACES": "{{env.A}}"}, config={"url": "http://x"}, runtime={"id": "7"}, now=NOW + 0.25, seed="s"
)


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("plain", "plain"),
        ("{{env.A}}", "a"),
        ("x{{ env.A }}y{{env.A}}", "xaya"),
        ("{{config.url}}/api", "http://x/api"),
        ("{{runtime.id}} {{id}}", "7 7"),
        ("{{timestamp}}", "1771286400250"),
        ("{{date}}", "2026-02-17"),
        ("{{env.NONE}} {{config.none}} {{ none }}", "{{env.NONE}} {{config.none}} {{ none }}"),
        ("{{env.BRACES}}", "{{env.A}}"),
        ("{{}} {{ {{env.A}} }} {env.A} {{env.A}", "{{}} {{ a }} {env.A} {{env.A}"),
        ("{{env.}} {{.}} {{env}}", "{{env.}} {{.}} {{env}}"),
    ],
)
def test_a_text_becomes(text: str, becomes: str):
    assert resolve(text, VARIABLES.look_up) == becomes


def test_every_uuid_is_another_and_the_same_when_it_is_asked_again():
    tree = {"a": "{{uuid}} {{uuid}}", "b": ["{{uuid}}"]}
    found = substitute(tree, VARIABLES).value
    several = [*found["a"].split(), *found["b"]]
    assert len(set(several)) == 3
    assert all(UUID(one).version == 4 for one in several)
    assert substitute(tree, VARIABLES).value == found
    assert substitute(tree, Variables(env={}, seed="another")).value != found


def test_keys_stay_as_they_are_and_values_of_other_kinds_too():
    tree: dict[str, Any] = {"{{env.A}}": ["{{env.A}}", 1, None, True, {"x": "{{env.A}}"}]}
    assert substitute(tree, VARIABLES).value == {"{{env.A}}": ["a", 1, None, True, {"x": "a"}]}


def test_vars_may_refer_to_each_other_but_not_in_a_circle():
    written = {
        "a": "{{config.b}}!",
        "b": "{{env.A}}{{config.nobody}}",
        "round": "{{config.and-round}}",
        "and-round": "{{config.round}}",
        "itself": "{{config.itself}}",
        "behind": "{{config.round}}",
    }
    found = settled({key: (("vars", key), text) for key, text in written.items()}, VARIABLES)
    assert found == {"a": "a{{config.nobody}}!", "b": "a{{config.nobody}}"}


def test_variables_made_of_variables_do_not_grow_without_end(tmp_path: Path):
    doubled = {f"v{one}": f"{{{{config.v{one - 1}}}}}" * 10 for one in range(1, 30)}
    written = project(service=service(vars={"v0": "0123456789", **doubled}))
    loaded = load(tmp_path, written)
    assert max(len(value) for value in loaded.services[0].vars.values()) < 1_000_000
    many = project(mocks={"m": {"port": 1, "args": "{{env.LONG}}" * 80_000}})
    error = refused(tmp_path, many, {"LONG": "x" * 10_000})
    assert [one["path"] for one in error.details["errors"]] == ["mocks.m.args"]


def test_a_row_of_braces_is_read_in_one_go():
    for text in ("{{" * 500_000, "{{a" * 300_000, "}}" * 500_000, "{{" + "a" * 1_000_000):
        assert resolve(text, VARIABLES.look_up) == text


_PIECES = st.sampled_from(["{{", "}}", "{", "}", "env.A", "config.a", "config.b", " ", "x", "uuid", "\n", "."])
_TEXTS = st.lists(_PIECES, max_size=12).map("".join) | st.text(max_size=20)


@given(_TEXTS, st.dictionaries(st.sampled_from("ab"), _TEXTS))
def test_substitution_never_raises_and_leaves_what_has_no_braces_alone(text: str, config: dict[str, str]):
    written = {key: (("vars", key), value) for key, value in config.items()}
    known = Variables(env={"A": "{{config.a}}"}, config=settled(written, VARIABLES), now=NOW)
    found = substitute({"a": [text]}, known).value["a"][0]
    assert isinstance(found, str)
    assert "{{" in text or found == text


def test_variables_come_from_the_caller_then_from_dotenv_and_each_says_from_where(tmp_path: Path):
    (tmp_path / ".env").write_text("BOTH=file\nFILE=file\n")
    images = [f"{{{{{name}}}}}" for name in ("env.BOTH", "env.FILE", "config.x", "uuid", "env.NONE")]
    loaded = load(
        tmp_path, project(service=service(vars={"x": "1"}), repos=[{"name": one} for one in images]), {"BOTH": "caller"}
    )
    names = [repo.name for repo in loaded.config.repos]
    assert (names[:3], names[4]) == (["caller", "file", "1"], "{{env.NONE}}")
    assert loaded.origins == {
        "env.BOTH": "environment",
        "env.FILE": ".env",
        "config.x": "vars",
        "uuid": "built-in",
        "env.NONE": "unresolved",
    }
    assert warned(loaded) == [("repos[4].name", 1)]
    assert loaded.variables.env == {"BOTH": "caller", "FILE": "file"}


def test_config_comes_from_the_vars_of_lists_and_of_mappings_and_the_last_one_holds(tmp_path: Path):
    ones = {"a": service("a", vars={"x": "1", "y": "1"}), "b": service("b", vars={"x": "2", "z": "{{config.y}}3"})}
    several = [{**one, "name": name} for name, one in ones.items()]
    for written in (ones, several):
        loaded = load(tmp_path, project(services=written, network={"name": "n-{{config.x}}-{{config.z}}"}))
        assert loaded.network == "n-2-13"
        assert [one.vars["x"] for one in loaded.services] == ["1", "2"]


def test_the_vars_of_service_count_also_where_services_go_before_it(tmp_path: Path):
    written = project(
        service=service("a", vars={"x": "1", "y": "1"}),
        services=[service("b", name="b", vars={"y": "2"})],
        network={"name": "n-{{config.x}}-{{config.y}}"},
    )
    assert load(tmp_path, written).network == "n-1-2"


@pytest.mark.parametrize(
    ("key", "value", "read"),
    [
        pytest.param("port", "{{env.PORT}}", 9000, id="a-number"),
        pytest.param("validate", "{{env.TRUE}}", True, id="a-truth"),
        pytest.param("mode", "{{env.MODE}}", "smart", id="one-of-several"),
        pytest.param("args", "{{env.PORT}}", "9000", id="a-text-stays-text"),
    ],
)
def test_what_a_variable_left_is_read_as_what_it_stands_for(tmp_path: Path, key: str, value: str, read: Any):
    written = project(mocks={"m": {"port": 1, key: value}})
    mock = load(tmp_path, written, {"PORT": "9000", "TRUE": "true", "MODE": "smart"}).mocks["m"]
    assert getattr(mock, {"validate": "validate_requests"}.get(key, key)) == read


def test_in_a_mocks_body_time_and_chance_are_left_for_each_request(tmp_path: Path):
    body = {"at": ["{{timestamp}}"], "id": "{{uuid}}", "of": "{{request.body.a}}", "by": "{{env.A}}", "on": "{{date}}"}
    route = {"method": "GET", "path": "/{{timestamp}}", "response": {"body": body, "headers": {"x": "{{timestamp}}"}}}
    loaded = load(tmp_path, project(mocks={"m": {"port": 1, "routes": [route], "overrides": [route]}}), {"A": "a"})
    for one in (*loaded.mocks["m"].routes, *loaded.mocks["m"].overrides):
        assert one.response.body == {**body, "by": "a", "on": "2026-02-17"}
        assert (one.path, one.response.headers) == ("/1771286400000", {"x": "1771286400000"})
    assert warned(loaded) == []


@pytest.mark.parametrize(
    ("text", "values"),
    [
        pytest.param("A=1\nB = two words \n", {"A": "1", "B": "two words"}, id="plain"),
        pytest.param("export A=1\n", {"A": "1"}, id="as-a-shell-has-it"),
        pytest.param("# A=1\n\n  # B=2\nC=3 # note\nD=a#b\n", {"C": "3", "D": "a"}, id="comments"),
        pytest.param("A='1 # 2'\nB=\"a\\nb\"\nC='a\\nb'\n", {"A": "1 # 2", "B": "a\nb", "C": "a\\nb"}, id="quotes"),
        pytest.param('A="one\ntwo"\nB=`x"y\'z`\n', {"A": "one\ntwo", "B": "x\"y'z"}, id="several-lines"),
        pytest.param('A="say \\"hi\\"" # note\n', {"A": 'say "hi"'}, id="a-quote-in-quotes"),
        pytest.param("A=\nB=''\n", {"A": "", "B": ""}, id="nothing"),
        pytest.param("A=1\nA=2\n", {"A": "2"}, id="the-last-one-holds"),
        pytest.param("\ufeffA=1\r\nB=2\r\n", {"A": "1", "B": "2"}, id="from-windows"),
        pytest.param("A: 1\nURL=http://x:1/?a=b\n", {"A": "1", "URL": "http://x:1/?a=b"}, id="a-colon"),
        pytest.param("A='open\nB=2\n", {"A": "'open", "B": "2"}, id="a-quote-that-is-not-closed"),
        pytest.param("A=${B}\n", {"A": "${B}"}, id="a-shells-variable-is-text"),
    ],
)
def test_a_dotenv_says(text: str, values: dict[str, str]):
    assert dotenv.parse(text) == (values, [])


def test_lines_of_a_dotenv_that_say_nothing_are_told_by_number_and_not_shown(tmp_path: Path):
    (tmp_path / ".env").write_text('A="1\n2"\nhunter2\n=x\n')
    loaded = load(tmp_path, project())
    messages = " ".join(warning.message for warning in loaded.warnings)
    assert (len(loaded.warnings), "line 3" in messages, "line 4" in messages) == (2, True, True)
    assert "hunter2" not in messages


def test_a_dotenv_that_cannot_be_read_is_left_out_and_that_is_said(tmp_path: Path):
    (tmp_path / ".env").write_bytes(b"A=\xff\n")
    loaded = load(tmp_path, project())
    assert (len(loaded.warnings), loaded.variables.env) == (1, {})


def test_a_folder_called_dotenv_is_nobodys_business(tmp_path: Path):
    (tmp_path / ".env").mkdir()
    assert load(tmp_path, project()).warnings == ()


@given(st.text())
def test_any_dotenv_is_read(text: str):
    values, unread = dotenv.parse(text)
    assert all(isinstance(value, str) for value in values.values())
    assert len(unread) <= text.count("\n") + text.count("\r") + 1


def test_what_is_wrong_because_a_variable_is_not_set_names_it(tmp_path: Path):
    text = """
project: {name: shop}
services:
  web: {build: {image: "shop:{{env.BRANCH}}{{config.more}}"}, container: {name: web}}
  api: {build: {image: "Not One"}, container: {name: api}}
"""
    with pytest.raises(ArgusError) as refusal:
        load(tmp_path, text)
    said = {one["path"]: one["message"] for one in refusal.value.details["errors"]}
    assert said["services.web.build.image"].endswith("; BRANCH is not set; {{config.more}} cannot be resolved")
    assert "set" not in said["services.api.build.image"]
