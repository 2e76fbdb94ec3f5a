"""The `argus` command."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

try:
    import click
except ModuleNotFoundError:
    from argus import installation

    sys.exit(f"argus: click is not installed, and Argus needs it; install again: {installation.here().again()}")

from argus import __version__
from argus.cli.manifest import VERBS

_LOCAL = {
    "agent": "Run an agent in this terminal, or beat for one that was started elsewhere.",
    "up": "Start Argus.",
    "down": "Stop Argus. What it started goes on.",
    "init": "Look around and write a first argus.yaml; touches nothing else.",
    "check": "Check a configuration file, without a daemon.",
    "completion": "Print a script that makes bash, zsh or fish complete argus.",
    "doctor": "Examine the installation itself: what is well, what is not, what to do. Changes nothing.",
    "schema": "Print the JSON Schema of a configuration file.",
    "token": "Print the token, and nothing else.",
    "events": "Show what happened; --follow goes on.",
    "hooks": "Make agents tell Argus what they do, by their own hooks: install | uninstall | doctor",
    "mcp": "Serve MCP over stdio, for agents: claude mcp add argus -- argus mcp",
    "service": "Keep Argus running by systemd or launchd: install | uninstall | status",
}
_OWN = frozenset({"agent", "completion", "doctor", "hooks", "service"})
"""Those with a module of their own; the others are in `local`."""

_LONG = 2 * 3600.0
"""Seconds that work may take which shows what it is doing."""
_LINE = 32_000
"""Characters of a path and its query, beyond which a server takes a request for none."""


class Verbs(click.Group):
    """Subcommands from the manifest, made when they are asked for."""

    def __init__(self, prefix: str = "", **options: Any) -> None:
        super().__init__(**options)
        self._prefix = prefix

    def list_commands(self, ctx: click.Context) -> list[str]:
        names = {verb.removeprefix(self._prefix).split(" ")[0] for verb in VERBS if verb.startswith(self._prefix)}
        return sorted(names if self._prefix else names | set(_LOCAL))

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        verb = self._prefix + name
        if verb in VERBS:
            made = _command(name, VERBS[verb])
            if verb in ("env run", "env run-suite"):
                return _reporting(made)
            if verb == "explain":
                return _explaining(made)
            if verb == "reload":
                return _reloading(made)
            return _watchable(made) if verb == "status" else made
        if any(other.startswith(verb + " ") for other in VERBS):
            has_list = f"{verb} list" in VERBS
            return Verbs(
                f"{verb} ",
                name=name,
                help=f"{name.capitalize()}: list when nothing else is said." if has_list else self._short_help(name),
                invoke_without_command=True,
                callback=lambda as_json: _list(verb, as_json) if has_list else _choose(verb),
                params=[_json_option()],
            )
        if not self._prefix and name in _LOCAL:
            from importlib import import_module

            command: click.Command = getattr(import_module(f"argus.cli.{name if name in _OWN else 'local'}"), name)
            return command
        return None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The same list, without making every command to read its help."""
        rows = [(name, self._short_help(name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def _short_help(self, name: str) -> str:
        verb = self._prefix + name
        if verb in VERBS:
            return str(VERBS[verb][-1]["help"]).partition("\n")[0]
        under = sorted(other.removeprefix(verb + " ") for other in VERBS if other.startswith(verb + " "))
        return _LOCAL.get(name) or " | ".join(under)


def _json_option() -> click.Option:
    return click.Option(["--json", "as_json"], is_flag=True, help="Print the object that REST answers with.")


def _list(verb: str, as_json: bool) -> None:
    if click.get_current_context().invoked_subcommand is None:
        _run([VERBS[f"{verb} list"][0]], {}, f"{verb} list", as_json)


def _choose(verb: str) -> None:
    context = click.get_current_context()
    if context.invoked_subcommand is None:
        under = sorted(other.removeprefix(f"{verb} ") for other in VERBS if other.startswith(f"{verb} "))
        raise click.UsageError(f"say what: {', '.join(under)}", context)


def _command(name: str, operations: list[dict[str, Any]]) -> click.Command:
    """One command for the operations that share a verb: which of them it is follows from what was given."""
    always = set.intersection(*({f["name"] for f in one["fields"] if f["required"]} for one in operations))
    fields = {field["name"]: field for one in operations for field in one["fields"]}
    places = [field for field in fields.values() if field["placed"] or (field["required"] and len(operations) > 1)]
    params: list[click.Parameter] = [
        click.Argument(
            [_safe(field["name"])],
            required=field["name"] in always,
            type=_type(field),
            metavar=_metavar(field),
        )
        for field in places
    ]
    params += [_option(field) for field in fields.values() if field not in places and field.get("cli") != "shell"]
    verb = next(verb for verb, known in VERBS.items() if known is operations)

    def callback(as_json: bool, **given: Any) -> None:
        said = {name: value for name in fields if (value := given.get(_safe(name))) is not None}
        said |= {name: _filled(field) for name, field in fields.items() if "cli" in field and name not in said}
        group = click.get_current_context().parent
        _run(operations, said, verb, as_json or bool(group and group.params.get("as_json")))

    return click.Command(name, params=[*params, _json_option()], callback=callback, help=operations[-1]["help"])


def _filled(field: dict[str, Any]) -> Any:
    """What the CLI knows by itself: where it was called, and in which environment."""
    if field["cli"] == "folder" and field["required"]:
        from argus.cli import here

        return str(here.folder())
    from argus.cli.shell import shell

    return shell()["folder"] if field["cli"] == "folder" else shell()


def _watchable(command: click.Command) -> click.Command:
    show = command.callback
    option = click.Option(["--watch"], is_flag=True, help="Stay, and show every change; q quits.")
    assert show is not None

    def callback(watch: bool, **given: Any) -> None:
        if not watch:
            show(**given)
        elif given["as_json"]:
            raise click.UsageError("--watch is for people; argus events --follow --json is for programs")
        else:
            from argus.cli.watching import watch as stay

            stay(_config())

    return click.Command(command.name, params=[option, *command.params], callback=callback, help=command.help)


def _metavar(field: dict[str, Any]) -> str:
    name = "JSON" if field["type"] == "object" else field["name"].removesuffix("_name").removesuffix("Id").upper()
    return f"[{name}]" if field["in"] == "path" and field["default"] is not None else name


def _explaining(command: click.Command) -> click.Command:
    """Also what an error code means, for which nobody has to be asked."""
    story = command.callback
    assert story is not None

    def callback(**given: Any) -> None:
        if given["given_id"] is None:
            _newest(story, given)
            return
        from argus.cli import explained

        explained.explain(given["given_id"], given["as_json"], lambda id: story(**{**given, "given_id": id}))

    help = (
        f"{command.help}\n\nOf an error code, such as PORT_CONFLICT: what it means and what to do; `codes` lists them. "
        "Both need no daemon."
    )
    return click.Command(command.name, params=command.params, callback=callback, help=help)


def _newest(story: Callable[..., Any], given: dict[str, Any]) -> None:
    from argus.cli.client import Refused

    try:
        story(**given)
    except Refused as refused:
        if given["as_json"] or refused.error.get("code") != "NOT_FOUND":
            raise
        click.echo("Nothing has happened yet.")


def _reloading(command: click.Command) -> click.Command:
    """A daemon reads its own file again, and no other: who means another one is told."""
    reload = command.callback
    assert reload is not None

    def callback(**given: Any) -> None:
        from argus.cli import reloading

        reloading.refuse_another(_config())
        try:
            reload(**given)
        finally:
            reloading.mention_another()

    return click.Command(command.name, params=command.params, callback=callback, help=command.help)


def _reporting(command: click.Command) -> click.Command:
    run = command.callback
    option = click.Option(["--junit"], type=_Path("FILE"), help="Also write the results there, as JUnit XML.")
    assert run is not None

    def callback(junit: str | None, **given: Any) -> None:
        if junit is not None:
            from argus.cli.junit_file import check

            check(junit)
            click.get_current_context().meta["junit"] = junit
        run(**given)

    return click.Command(command.name, params=[option, *command.params], callback=callback, help=command.help)


def _option(field: dict[str, Any]) -> click.Option:
    word, name = _dashed(field["name"]), _safe(field["name"])
    if field["type"] == "boolean":
        switch = f"--{word}/--no-{word}" if field["default"] is not False else f"--{word}"
        # None: not said, which is not the same as no.
        return click.Option([switch, name], is_flag=True, default=None, help=field["help"])
    words = [*([field["short"]] if "short" in field else []), f"--{word}", name]
    required = field["required"] and "cli" not in field
    if field["type"] == "array":
        return click.Option(
            words, required=required, type=_List(), help=field["help"], multiple=True, callback=_gathered
        )
    return click.Option(words, required=required, type=_type(field), help=field["help"])


def _gathered(context: click.Context, param: click.Parameter, value: tuple[list[str], ...]) -> list[str] | None:
    return [word for words in value for word in words] or None


def _dashed(name: str) -> str:
    return "".join(f"-{one.lower()}" if one.isupper() else one for one in name).replace("_", "-")


def _safe(name: str) -> str:
    return f"given_{name}".lower()  # as click itself does with the names of arguments


def _type(field: dict[str, Any]) -> Any:
    if field["choices"]:
        return click.Choice(field["choices"])
    path = _Path("FILE" if field["name"].lower().endswith("file") else "DIR")
    known = {"integer": int, "number": float, "boolean": bool, "path": path, "object": _Object(), "array": _List()}
    return known.get(field["type"], str)


class _List(click.ParamType[list[str]]):
    """Words, with commas or spaces between them; and the option can be given again."""

    name = "WORDS"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[str]:
        return str(value).replace(",", " ").split()


class _Object(click.ParamType[dict[str, Any]]):
    """JSON, as one argument."""

    name = "JSON"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, Any]:
        import json

        try:
            read = json.loads(value)
        except RecursionError:
            self.fail("it is nested too deep", param, ctx)
        except ValueError as error:
            self.fail(f'it is no JSON: {error}. Quote it for your shell: \'{{"key": "value"}}\'', param, ctx)
        if not isinstance(read, dict):
            self.fail('it is no object: write {"key": "value"}', param, ctx)
        return read


class _Path(click.ParamType[str]):
    """A path as its caller means it: the daemon stands somewhere else."""

    def __init__(self, name: str) -> None:
        self.name = name

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return os.path.abspath(os.path.expanduser(value))


def _run(operations: list[dict[str, Any]], given: dict[str, Any], verb: str, as_json: bool) -> None:
    import json
    from urllib.parse import quote, urlencode

    from argus.cli import render

    fits = [one for one in operations if all(f["name"] in given for f in one["fields"] if f["required"])]
    one = max(fits, key=lambda fit: sum(f["required"] for f in fit["fields"]))
    path, query, body = one["path"], {}, {}
    for field in one["fields"]:
        name = field["name"]
        if field["in"] == "path":
            said = str(given.get(name, field["default"]))
            if not said:
                raise click.UsageError(f"{_metavar(field).strip('[]')} is empty")
            path = path.replace(f"{{{name}}}", quote(said, safe=""))
        elif name not in given:
            continue
        elif field["in"] == "query":
            query[name] = "true" if given[name] is True else given[name]
        else:
            body[name] = given[name]
    target = f"{path}?{urlencode(query)}" if query else path
    if len(target) > _LINE:
        longest = max(given.values(), key=lambda value: len(str(value)))
        raise click.UsageError(f"an argument is too long: {len(str(longest))} characters")
    answer = _asked(one, target, body, None if as_json else verb)
    shown = render.show(verb, answer)
    click.echo(json.dumps(answer, indent=2) if as_json else shown.text, color=None)
    _report(answer)
    sys.exit(shown.exit_code)


def _asked(one: dict[str, Any], target: str, body: dict[str, Any], verb: str | None) -> Any:
    """`verb`: for who reads text."""
    from urllib.parse import unquote

    from argus.cli.client import Refused, ask

    if not one["long"]:
        return ask(_config(), one["method"], target, body if one["method"] != "GET" else None)
    is_restart = one["path"].endswith("/restart")
    if "/environments/" not in one["path"] and not is_restart:
        return ask(_config(), one["method"], target, body, timeout=_LONG)
    from argus.cli.progress import shown

    if is_restart:
        service = unquote(target.split("/")[-2])
        with shown(_config(), until="services:restart_started", service=service):
            return ask(_config(), one["method"], target, body, timeout=_LONG)
    try:
        # The operations on suites end with an event of their own.
        until = "test:run_ended" if "/run" in one["path"] else None
        with shown(_config(), os.path.realpath(body.get("projectPath", ".")), until):
            return ask(_config(), one["method"], target, body, timeout=_LONG)
    except Refused as refused:
        collected = (refused.error.get("details") or {}).get("results")
        if isinstance(collected, dict):
            if verb is not None:
                from argus.cli import render

                click.echo(render.show(verb, collected).text, color=None)
            _report(collected)
        raise


def _report(results: dict[str, Any]) -> None:
    """After they were printed: a file that cannot be written loses nothing."""
    path = click.get_current_context().meta.get("junit")
    if path is not None:
        from argus.cli.junit_file import write

        write(path, results)


def _config() -> str | None:
    found = click.get_current_context().find_root().params.get("config")
    return str(found) if found else None


@click.group(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Argus watches the machine that AI agents work on: notices, repairs what it may, proves it, records all.",
)
@click.version_option(__version__, prog_name="argus")
@click.option("--config", metavar="FILE", help="The configuration file; else ./argus.yaml, else the user's own.")
def argus(config: str | None) -> None:
    if os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb":
        click.get_current_context().color = False  # for every command: else a terminal is all that is asked for


def main(argv: Sequence[str] | None = None) -> None:
    arguments = list(sys.argv[1:] if argv is None else argv)
    as_json = "--json" in arguments
    _guarded(lambda: argus.main(arguments, prog_name="argus", standalone_mode=False), as_json)


def _guarded(run: Callable[[], Any], as_json: bool) -> None:
    try:
        code = run()
    except (click.Abort, KeyboardInterrupt):
        click.echo("argus: interrupted", err=True)
        sys.exit(130)
    except BrokenPipeError:
        # The reader, `head` for instance, has enough. Python would complain once more when it flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:  # noqa: BLE001 - people and programs get a sentence and a code, never a traceback
        try:
            from argus.cli import failures
        except Exception:  # noqa: BLE001 - what says it is broken itself
            sys.exit(f"argus: INTERNAL_ERROR: {type(error).__name__}: {error}; see what is not whole: argus doctor")
        failures.leave(error, as_json)
    sys.exit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    main()
