"""A scene in a terminal: its title, its grid of characters, its caption. Knows no game."""

from __future__ import annotations

import textwrap

from rich.color import ColorSystem
from rich.console import Console
from rich.style import Style

from tabletop_envs.render.scene import COLUMNS, Cell, Scene

_INDENT = "  "  # of a caption's further lines


def ansi(scene: Scene, colour: bool | None = None) -> str:
    """The scene as lines of at most 80 characters, without a line break at the end.

    colour: with colours or plain; None: with colours if standard output is a terminal and `NO_COLOR` is not set. The
    words are the same.
    """
    palette = _palette(colour)
    lines = [*textwrap.wrap(scene.title, COLUMNS), ""]
    lines += ["".join(_styled(cell, palette) for cell in row) for row in scene.grid]
    if scene.grid:
        lines.append("")
    for fact in scene.caption:
        lines += textwrap.wrap(fact, COLUMNS, subsequent_indent=_INDENT)
    return "\n".join(lines).rstrip("\n")


def _palette(colour: bool | None) -> ColorSystem | None:
    """How many colours the terminal knows; None for a plain text."""
    console = Console(force_terminal=True) if colour else Console()
    if colour is False or (colour is None and (not console.is_terminal or console.no_color)):
        return None
    known = {
        "standard": ColorSystem.STANDARD,
        "256": ColorSystem.EIGHT_BIT,
        "truecolor": ColorSystem.TRUECOLOR,
    }
    return known.get(console.color_system or "", ColorSystem.EIGHT_BIT if colour else None)


def _styled(cell: Cell, palette: ColorSystem | None) -> str:
    if palette is None or not (cell.colour or cell.background or cell.bold):
        return cell.text
    style = Style(color=cell.colour, bgcolor=cell.background, bold=cell.bold or None)
    return style.render(cell.text, color_system=palette)
