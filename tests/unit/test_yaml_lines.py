"""YAML as people mean it: what stays text, where things stand, and what is refused."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.core.errors import ArgusError, Code
from argus.yaml_lines import Broken, Problem, dotted, error, parse


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("on", "on", id="on-stays-text"),
        pytest.param("off", "off", id="off-stays-text"),
        pytest.param("yes", "yes", id="yes-stays-text"),
        pytest.param("no", "no", id="no-stays-text"),
        pytest.param("22:22", "22:22", id="a-port-mapping-is-not-a-number-of-base-60"),
        pytest.param("1_000", "1_000", id="a-number-with-underscores-stays-text"),
        pytest.param("0x10", "0x10", id="hexadecimal-stays-text"),
        pytest.param("010", "010", id="a-leading-zero-is-not-octal"),
        pytest.param("2026-02-17", "2026-02-17", id="a-date-stays-text"),
        pytest.param(".inf", ".inf", id="infinity-stays-text"),
        pytest.param(".nan", ".nan", id="not-a-number-stays-text"),
        pytest.param("<<", "<<", id="a-merge-sign-that-is-no-key-stays-text"),
        pytest.param("=", "=", id="the-value-key-stays-text"),
        pytest.param("30s", "30s", id="a-duration-is-text"),
        pytest.param('"true"', "true", id="what-is-quoted-is-text"),
        pytest.param('"3"', "3", id="a-quoted-number-is-text"),
        pytest.param("!!str 3", "3", id="a-number-said-to-be-text-is-text"),
        pytest.param("true", True, id="true"),
        pytest.param("FALSE", False, id="false"),
        pytest.param("tRUE", "tRUE", id="another-spelling-of-true-is-text"),
        pytest.param("null", None, id="null"),
        pytest.param("~", None, id="tilde"),
        pytest.param("", None, id="nothing"),
        pytest.param("0", 0, id="zero"),
        pytest.param("-12", -12, id="a-negative-number"),
        pytest.param("1.5", 1.5, id="a-fraction"),
        pytest.param(".5", 0.5, id="a-fraction-without-a-whole-part"),
        pytest.param("1e3", 1000.0, id="an-exponent"),
        pytest.param("[1, a, {b: c}]", [1, "a", {"b": "c"}], id="a-list-of-anything"),
    ],
)
def test_a_value_is(text: str, value: object):
    document = parse(f"key: {text}\n")
    assert document.value == {"key": value}
    assert type(document.value["key"]) is type(value)
    assert document.problems == []


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "---\n", "~\n"])
def test_an_empty_document_is_nothing(text: str):
    document = parse(text)
    assert (document.value, document.problems) == (None, [])


def test_every_value_knows_its_line():
    document = parse("a: 1\nb:\n  - x\n  - y: 2\n    z: |\n      text\nc: {d: 3}\n")
    lines = {dotted(path): line for path, line in document.lines.items()}
    assert lines == {"": 1, "a": 1, "b": 2, "b[0]": 3, "b[1]": 4, "b[1].y": 4, "b[1].z": 5, "c": 7, "c.d": 7}


@pytest.mark.parametrize(
    ("path", "line"),
    [
        pytest.param(("b", 1), 4, id="what-is-there"),
        pytest.param(("b", 1, "gone"), 4, id="a-missing-key-is-where-it-would-have-to-be"),
        pytest.param(("b", 9, "x"), 2, id="a-missing-entry-is-where-its-list-is"),
        pytest.param((), 1, id="the-whole"),
    ],
)
def test_the_line_of_a_path_is_that_of_the_nearest_thing_the_file_has(path: tuple[str | int, ...], line: int):
    assert parse("a: 1\nb:\n  - x\n  - y: 2\n").line(path) == line


def test_an_empty_document_has_no_lines():
    assert parse("").line(("a", 1)) is None


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), ""),
        (("health", "services", 3, "name"), "health.services[3].name"),
        ((0, "a"), "[0].a"),
        (("a", 1, 2), "a[1][2]"),
    ],
)
def test_a_path_is_written(path: tuple[str | int, ...], text: str):
    assert dotted(path) == text


def test_a_key_that_stands_twice_is_a_problem_with_both_lines_and_the_first_holds():
    document = parse("a: 1\nb: 2\na: 3\nc: {x: 1, x: 2}\n")
    assert document.value == {"a": 1, "b": 2, "c": {"x": 1}}
    assert [(problem.path, problem.line) for problem in document.problems] == [(("a",), 3), (("c", "x"), 4)]
    assert "line 1" in document.problems[0].message


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param("a: 1\n? [b]\n: c\n", 2, id="a-list-as-a-key"),
        pytest.param("a: 1\n? {b: c}\n: d\n", 2, id="a-mapping-as-a-key"),
        pytest.param("a: 1\nb: !mine 3\n", 2, id="a-tag-nobody-knows"),
        pytest.param("a: 1\nb: !!python/object/apply:os.system [ls]\nc: !!python/name:os.system ''\n", 3, id="a-tag"),
        pytest.param("a: 1\nb: !!timestamp 2026-02-17\n", 2, id="a-kind-that-is-not-read"),
        pytest.param(f"a: 1\nb: {'9' * 101}\n", 2, id="a-number-of-a-hundred-and-one-digits"),
    ],
)
def test_a_value_that_is_not_read_is_a_problem_with_its_line(text: str, line: int):
    document = parse(text)
    assert [problem.line for problem in document.problems] == [line]


def test_no_tag_runs_anything(tmp_path):
    made = tmp_path / "made"
    for tag in ("!!python/object/apply:os.mkdir", "!!python/object/new:os.mkdir"):
        parse(f"a: {tag} ['{made}']\n")
    assert not made.exists()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param("a: 1\nb: [1, 2\n", 3, id="an-open-bracket"),
        pytest.param("a: 1\n\tb: 2\n", 2, id="a-tab-as-indentation"),
        pytest.param("a: 1\nb: 'open\n", 3, id="an-open-quote"),
        pytest.param("a: 1\nb: c: d\n", 2, id="two-colons"),
        pytest.param("a: *nobody\n", 1, id="an-alias-of-nothing"),
        pytest.param("a: 1\n---\nb: 2\n", 2, id="a-second-document"),
        pytest.param("%YAML 9.0\n---\na: 1\n", 1, id="another-yaml"),
        pytest.param('a: "\\ud800"\n', 1, id="half-a-character"),
        pytest.param("a: \x00\n", None, id="a-control-character"),
        pytest.param("a: \ud800\n", None, id="a-lone-surrogate"),
    ],
)
def test_what_is_not_yaml_is_broken_at_its_line(text: str, line: int | None):
    with pytest.raises(Broken) as broken:
        parse(text)
    assert [problem.line for problem in broken.value.problems] == [line]


def bomb(levels: int) -> str:
    return "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]\n" for level in range(1, levels)
    )


def test_aliases_may_be_used():
    assert parse("a: &x {b: 1}\nc: *x\n").value == {"a": {"b": 1}, "c": {"b": 1}}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("<<: *b", {"x": 1, "y": 2}, id="all-of-it"),
        pytest.param("<<: *b\n  y: 3", {"x": 1, "y": 3}, id="own-keys-after-it-win"),
        pytest.param("y: 3\n  <<: *b", {"y": 3, "x": 1}, id="own-keys-before-it-win"),
        pytest.param("<<: [*b, *c]", {"x": 1, "y": 2, "z": 9}, id="of-several-the-first-wins"),
        pytest.param("<<: [*c, *b]", {"x": 7, "z": 9, "y": 2}, id="of-several-the-first-wins-the-other-way"),
        pytest.param("<<: {x: 5}", {"x": 5}, id="a-mapping-written-there"),
        pytest.param("<<: *d", {"x": 7, "z": 9, "w": 0}, id="what-merges-can-be-merged"),
        pytest.param('"<<": 1', {"<<": 1}, id="a-quoted-sign-is-a-key-like-any-other"),
        pytest.param("<<: {}", {}, id="nothing"),
    ],
)
def test_a_merge_takes_over_the_keys_that_are_not_there(text: str, value: object):
    base = "b: &b {x: 1, y: 2}\nc: &c {x: 7, z: 9}\nd: &d {<<: *c, w: 0}\n"
    document = parse(f"{base}e:\n  {text}\n")
    assert document.value["e"] == value
    assert list(document.value["e"]) == list(value)  # type: ignore[call-overload]
    assert document.problems == []


def test_what_came_by_a_merge_has_the_line_where_it_is_written():
    document = parse("b: &b\n  x: 1\n  in:\n    deep: 2\nc:\n  own: 3\n  <<: *b\n  x: 4\n")
    lines = {dotted(path): line for path, line in document.lines.items() if path[:1] == ("c",)}
    assert lines == {"c": 5, "c.own": 6, "c.x": 8, "c.in": 3, "c.in.deep": 4}


@pytest.mark.parametrize(
    ("text", "places"),
    [
        pytest.param("a: 1\n<<: 3\n", [("<<", 2)], id="a-number"),
        pytest.param("a: 1\nb:\n  <<: [{x: 1}, y]\n", [("b.<<", 3)], id="a-text-among-mappings"),
        pytest.param("b: &b {x: 1}\nc:\n  <<: *b\n  <<: *b\n", [("c.<<", 4)], id="two-merges"),
        pytest.param("b: &b {x: 1, x: 2}\nc: {<<: *b}\nd: {<<: *b}\n", [("b.x", 1)], id="told-once"),
    ],
)
def test_a_merge_that_cannot_be_is_a_problem_with_its_place(text: str, places: list[tuple[str, int]]):
    assert [(dotted(one.path), one.line) for one in parse(text).problems] == places


def merges(count: int) -> str:
    return "a0: &a0 {k0: 0}\n" + "".join(f"a{one}: &a{one} {{<<: *a{one - 1}, k{one}: 0}}\n" for one in range(1, count))


def test_merges_of_merges_are_read():
    assert len(parse(merges(50)).value["a49"]) == 50


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a: &a {<<: *a}\n", id="a-mapping-merged-into-itself"),
        pytest.param("a: &a {b: 1, <<: [{c: 1, <<: *a}]}\n", id="a-mapping-merged-into-itself-by-another"),
        pytest.param(merges(200), id="a-chain-without-end"),
        pytest.param(
            "a: &a {" + ", ".join(f"k{one}: 0" for one in range(2000)) + "}\n"
            "b: &b {<<: [" + ", ".join(["*a"] * 2000) + "]}\n",
            id="four-million-keys",
        ),
        pytest.param(bomb(9), id="ten-to-the-ninth-values-from-five-hundred-bytes"),
        pytest.param("a: &a [*a]\n", id="a-list-that-holds-itself"),
        pytest.param("a: &a {b: *a}\n", id="a-mapping-that-holds-itself"),
        pytest.param("a: " + "[" * 150 + "]" * 150, id="deeper-than-any-honest-file"),
    ],
)
def test_what_grows_without_end_is_refused(text: str):
    with pytest.raises(Broken) as broken:
        parse(text)
    assert len(broken.value.problems) == 1


def test_a_file_of_nothing_but_brackets_does_not_end_the_process():
    """In a process of its own: a crash here is a crash of Argus, and no exception."""
    code = "from argus.yaml_lines import Broken, parse\ntry: parse('[' * 200_000)\nexcept Broken: print('refused')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "refused\n")


@pytest.mark.parametrize("text", ["!!int abc", "!!float abc", "!!int 0x10", "!!int ''", "!!float 22:22"])
def test_a_value_that_is_not_what_its_tag_says_is_a_problem(text: str):
    document = parse(f"a: 1\nb: {text}\n")
    assert [problem.line for problem in document.problems] == [2]


@pytest.mark.parametrize("text", ["!!bool maybe", "!!bool on", "!!null something", "!!int 3_0"])
def test_a_tag_does_not_change_what_a_text_says(text: str):
    document = parse(f"a: 1\nb: {text}\n")
    assert [problem.line for problem in document.problems] == [2]


@given(
    st.recursive(st.integers(-(10**6), 10**6) | st.booleans() | st.none(), lambda inner: st.lists(inner, max_size=4))
)
def test_what_json_says_is_read_as_it_is(value: object):
    import json

    assert parse(json.dumps({"a": value})).value == {"a": value}


def test_all_problems_are_one_error_with_their_places():
    made = error([Problem(("a", 0), 3, "wrong"), Problem(("b",), None, "also wrong")], "argus.yaml")
    assert isinstance(made, ArgusError)
    assert made.code is Code.CONFIG_INVALID
    assert made.message.startswith("argus.yaml:3: a[0]: ")
    assert made.details == {
        "file": "argus.yaml",
        "errors": [
            {"path": "a[0]", "line": 3, "message": "wrong"},
            {"path": "b", "line": None, "message": "also wrong"},
        ],
    }


def test_an_error_lists_at_most_a_hundred_problems():
    made = error([Problem(("a", place), place, "wrong") for place in range(500)], "argus.yaml")
    assert len(made.details["errors"]) == 100
