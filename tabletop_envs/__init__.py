"""Modern board games for multi-agent reinforcement learning: rule-complete, masked, fast, clonable.

    >>> import tabletop_envs
    >>> env = tabletop_envs.make("urbino")

`make` builds a PettingZoo AEC environment, `make_parallel` its turn-based parallel view, `make_solo` a Gymnasium
environment in which one seat learns, `make_vec` a batch of games, `make_agent` an agent; `list_games` tells what there
is. Importing the package loads no compiled code.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Final, Literal, overload

from tabletop_envs import registry
from tabletop_envs.agents import make_agent
from tabletop_envs.errors import OptionError

if TYPE_CHECKING:
    from tabletop_envs.core.game import Game
    from tabletop_envs.envs.aec import TabletopAEC
    from tabletop_envs.envs.gym_vector import TabletopGymVector
    from tabletop_envs.envs.parallel import TurnBasedParallel
    from tabletop_envs.envs.sb3 import SelfPlayVecEnv
    from tabletop_envs.envs.solo import TabletopSolo
    from tabletop_envs.envs.vector import TabletopVector

try:
    __version__ = version("tabletop-envs")
except PackageNotFoundError:  # a source tree that is not installed
    __version__ = "0"

__all__ = ["__version__", "list_games", "make", "make_agent", "make_parallel", "make_solo", "make_vec"]

_KINDS: Final = ("sb3", "gym", "raw")


def make(game: Game | str, num_players: int | None = None, **arguments: Any) -> TabletopAEC:
    """A PettingZoo AEC environment of a game, by id (`urbino`, `urbino-v0`, `tabletop/urbino-v0`).

    num_players: seats (default: the least that the game takes); arguments: those of
    `tabletop_envs.envs.aec.TabletopAEC` and the game's options. Raises UnknownGameError and OptionError.
    """
    from tabletop_envs.envs.aec import TabletopAEC

    return TabletopAEC(game, num_players, **arguments)


def make_parallel(game: Game | str, num_players: int | None = None, **arguments: Any) -> TurnBasedParallel:
    """The turn-based parallel view of a game (PettingZoo's parallel interface): one agent acts a step.

    arguments: those of `tabletop_envs.envs.aec.TabletopAEC` and the game's options.
    """
    from tabletop_envs.envs.parallel import turn_based_parallel

    return turn_based_parallel(game, num_players, **arguments)


def make_solo(game: Game | str, num_players: int | None = None, **arguments: Any) -> TabletopSolo:
    """A Gymnasium environment of a game in which one seat learns; `gymnasium.make("tabletop/<Title>-vN")` is the same.

    arguments: those of `tabletop_envs.envs.solo.TabletopSolo` (`opponents`, `learner`, …) and the game's options.
    """
    from tabletop_envs.envs.solo import TabletopSolo

    return TabletopSolo(game, num_players, **arguments)


@overload
def make_vec(
    game: Game | str, num_envs: int, num_players: int | None = None, *, kind: Literal["sb3"] = "sb3", **arguments: Any
) -> SelfPlayVecEnv: ...


@overload
def make_vec(
    game: Game | str, num_envs: int, num_players: int | None = None, *, kind: Literal["gym"], **arguments: Any
) -> TabletopGymVector: ...


@overload
def make_vec(
    game: Game | str, num_envs: int, num_players: int | None = None, *, kind: Literal["raw"], **arguments: Any
) -> TabletopVector: ...


def make_vec(
    game: Game | str, num_envs: int, num_players: int | None = None, *, kind: str = "sb3", **arguments: Any
) -> Any:
    """N games in one array, stepped in compiled code.

    kind: `sb3` (a Stable-Baselines3 VecEnv, one learning seat a game), `gym` (a Gymnasium VectorEnv, likewise) or
    `raw` (every seat is the caller's); arguments: those of the class, and the game's options. Raises OptionError for
    another kind.
    """
    if kind == "sb3":
        from tabletop_envs.envs.sb3 import SelfPlayVecEnv

        return SelfPlayVecEnv(game, num_envs, num_players, **arguments)
    if kind == "gym":
        from tabletop_envs.envs.gym_vector import TabletopGymVector

        return TabletopGymVector(game, num_envs, num_players, **arguments)
    if kind == "raw":
        from tabletop_envs.envs.vector import TabletopVector

        return TabletopVector(game, num_envs, num_players, **arguments)
    raise OptionError(f"kind={kind!r} is not possible: give one of {', '.join(map(repr, _KINDS))}")


def list_games() -> list[str]:
    """The ids of all games, outside packages included."""
    return list(registry.games())


registry.fill_pettingzoo()
registry.fill_gymnasium()
