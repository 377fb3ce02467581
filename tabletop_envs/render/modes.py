"""The modes in which environments show a position, and for whom. Knows no game and no environment."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from tabletop_envs.core.checks import is_whole
from tabletop_envs.core.game import ALL, PUBLIC
from tabletop_envs.core.position import Position
from tabletop_envs.errors import OptionError

RENDER_MODES: Final = ("human", "ansi", "rgb_array", "svg")
FRAMES_PER_SECOND: Final = 2
EVERYONE: Final = "public"
NOTHING_HIDDEN: Final = "all"


def check_viewer(viewer: Any, num_players: int, name: str = "render_viewer") -> int:
    """The viewer of `public`, `all` or a seat's number; raises OptionError for anything else. name: of the argument."""
    if viewer == EVERYONE:
        return PUBLIC
    if viewer == NOTHING_HIDDEN:
        return ALL
    if not is_whole(viewer, 0, num_players - 1):
        raise OptionError(
            f"{name}={viewer!r} is not possible: give {EVERYONE!r}, {NOTHING_HIDDEN!r} or a seat, "
            f"0 to {num_players - 1}"
        )
    return int(viewer)


def render(position: Position, mode: str, viewer: int, title: str = "") -> Any:
    """The position as a viewer (a seat, `PUBLIC` or `ALL`) sees it, in one of `RENDER_MODES`.

    `ansi`: text for a terminal; `human`: that text, printed, and None; `rgb_array`: uint8 of shape
    (height, width, 3); `svg`: an SVG document. title: what stands above a text, instead of the scene's own.
    """
    scene = position.scene(viewer)
    if mode == "rgb_array":
        from tabletop_envs.render.raster import rgb_array

        return rgb_array(scene)
    if mode == "svg":
        from tabletop_envs.render.svg import svg

        return svg(scene)
    from tabletop_envs.render.ansi import ansi

    text = ansi(replace(scene, title=title or scene.title))
    if mode == "ansi":
        return text
    print(text, end="\n\n")
    return None
