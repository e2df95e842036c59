"""/docs: the routes as a plain page. It loads nothing from elsewhere, and runs no script."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, Response

router = APIRouter(include_in_schema=False)

_STYLE = """\
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.4rem 1rem 0.4rem 0; border-bottom: 1px solid #8884; }
code { font: 0.9em ui-monospace, monospace; overflow-wrap: anywhere; }
"""


@router.get("/docs")
def docs(request: Request) -> HTMLResponse:
    """Every route with its summary, made of the OpenAPI description."""
    described: dict[str, Any] = request.app.openapi()
    rows = "\n".join(_rows(described))
    title = f"{described['info']['title']} {described['info']['version']}"
    return HTMLResponse(
        f"""<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}</title>
<link rel="stylesheet" href="/docs.css"></head>
<body>
<h1>{escape(title)}</h1>
<p>The whole description, for machines and API clients: <a href="/openapi.json"><code>/openapi.json</code></a>.</p>
<table>
<thead><tr><th>method</th><th>address</th><th>what it does</th></tr></thead>
<tbody>
{rows}
</tbody>
</table>
</body>
</html>
"""
    )


@router.get("/docs.css")
def style() -> Response:
    """The page's style."""
    return Response(_STYLE, media_type="text/css")


def _rows(described: dict[str, Any]) -> Iterator[str]:
    for path, methods in described["paths"].items():
        for method, route in methods.items():
            summary = escape(str(route.get("summary", "")))
            yield (
                f"<tr><td><code>{escape(method.upper())}</code></td><td><code>{escape(path)}</code></td>"
                f"<td>{summary}</td></tr>"
            )
