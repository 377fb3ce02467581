"""Modern board games for multi-agent reinforcement learning: rule-complete, masked, fast, clonable.

    >>> import tabletop_envs
    >>> env = tabletop_envs.make("urbino")

`make` builds a PettingZoo AEC environment, `list_games` tells what there is. Importing the package loads no compiled
code.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from tabletop_envs import registry

if TYPE_CHECKING:
    from tabletop_envs.envs.aec import TabletopAEC

try:
    __version__ = version("tabletop-envs")
except PackageNotFoundError:  # a source tree that is not installed
    __version__ = "0"

__all__ = ["__version__", "list_games", "make"]


def make(game: str, num_players: int | None = None, **arguments: Any) -> TabletopAEC:
    """A PettingZoo AEC environment of a game, by id (`urbino`, `urbino-v0`, `tabletop/urbino-v0`).

    num_players: seats (default: the least that the game takes); arguments: those of
    `tabletop_envs.envs.aec.TabletopAEC` and the game's options. Raises UnknownGameError and OptionError.
    """
    from tabletop_envs.envs.aec import TabletopAEC

    return TabletopAEC(game, num_players, **arguments)


def list_games() -> list[str]:
    """The ids of all games, outside packages included."""
    return list(registry.games())


registry.fill_pettingzoo()
