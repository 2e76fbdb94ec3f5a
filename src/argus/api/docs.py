"""The API's pages: the OpenAPI document as plain HTML, with nothing loaded from elsewhere."""

from __future__ import annotations

from html import escape

from argus import __version__
from argus.core.errors import ACTIONS, REGISTRY
from argus.ops import OPERATIONS


def page() -> str:
    operations = "".join(
        f"<section><h2><code>{escape(one.method)} {escape(one.path)}</code></h2>"
        f"<p>{escape(one.documentation)}</p><p>{_faces(one.verb, one.tool)}</p></section>"
        for one in OPERATIONS
    )
    rows = (
        (code, entry, "<br>".join(escape(f"{action}: {ACTIONS[action]}") for action in entry.actions))
        for code, entry in REGISTRY.items()
    )
    codes = "".join(
        f"<tr><td><code>{code.value}</code></td><td>{entry.status}</td><td>{entry.category.value}</td>"
        f"<td>{entry.severity.value}</td><td>{actions}</td></tr>"
        for code, entry, actions in rows
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Argus API</title>'
        '<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="/style.css"></head><body>'
        f'<main><h1>Argus API {__version__}</h1><p><a href="/openapi.json">openapi.json</a> is the machine\'s form. '
        "Events: <code>GET /api/events</code> (SSE, resumes by Last-Event-ID).</p>"
        f"{operations}<h1>Error codes</h1><table>{codes}</table></main></body></html>"
    )


def _faces(verb: str | None, tool: str | None) -> str:
    faces = [
        f"CLI <code>argus {escape(verb)}</code>" if verb else "",
        f"MCP <code>{escape(tool)}</code>" if tool else "",
    ]
    return ", ".join(face for face in faces if face)
