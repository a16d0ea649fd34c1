"""A page from its parts: styles, scripts and data within one file that asks nobody for anything.

The data is JSON in an element that no browser runs, with every ``<`` written as an escape, so that
it cannot end the element; the scripts show it as text, never as HTML. A second wall: by its own
policy the page runs only the scripts whose hashes it names, and loads nothing.
"""

import base64
import hashlib
import html
import json
import re
from importlib.metadata import version
from importlib.resources import files
from typing import Any

LIBRARY = "vendor/chart.umd.min.js"
LICENSE = "vendor/LICENSE.chartjs"
SCRIPTS = {
    "report": ["charts", "state", "overview", "lists", "map", "chosen", "sizes", "run", "table"],
    "choose": ["charts", "choose"],
}
"""The scripts of each page, in the order in which they run."""


def render(name: str, title: str, data: dict[str, Any]) -> str:
    """The template ``name`` with its scripts, filled."""
    scripts = [_library(), "\n".join(_asset(f"scripts/{part}.js") for part in SCRIPTS[name])]
    style = _asset("page.css")
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; "
        f"style-src {_hash(style)}; script-src {' '.join(map(_hash, scripts))}"
    )
    parts = {
        "title": html.escape(title),
        "policy": html.escape(policy, quote=True),
        "license": _asset(LICENSE).replace("--", "- -"),
        "style": f"<style>{style}</style>",
        "data": f'<script id="data" type="application/json">{embedded(data)}</script>',
        "scripts": "\n".join(f"<script>{script}</script>" for script in scripts),
        "version": html.escape(version("arcmeans")),
    }
    # In one go, so that braces in the parts are not looked at.
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _asset(f"{name}.html"))


def embedded(data: dict[str, Any]) -> str:
    """JSON that is safe within HTML."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for mark in "<>&\u2028\u2029":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text


def _library() -> str:
    """Without the line by which developer tools would look for another file."""
    return re.sub(r"\n//# sourceMappingURL=\S+\s*$", "\n", _asset(LIBRARY))


def _asset(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
