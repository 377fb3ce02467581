"""Markdown of strangers as HTML: no tags of their own, no pictures, links to the web only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

_LEAST_HEADING: Final = 3
_SCHEMES: Final = ("https://", "http://")


def rendered(text: str, heading: int = _LEAST_HEADING) -> Markup:
    """The text as HTML that is safe within any element; heading: the level that its first-level headings get."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    parser.validateLink = _is_web  # type: ignore[method-assign, assignment]
    tokens = parser.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + heading - 1)}"
        _mark_links(token.children or ())
    return Markup(parser.renderer.render(tokens, parser.options, {}))


def _is_web(address: str) -> bool:
    return address.lower().startswith(_SCHEMES)


def _mark_links(tokens: Sequence[Token]) -> None:
    for token in tokens:
        if token.type == "link_open":
            token.attrSet("rel", "nofollow noopener noreferrer")
