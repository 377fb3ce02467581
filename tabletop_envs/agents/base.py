"""Who can sit at a table: the protocol of agents and the View that they are handed, built-in policies, batch policies.

There are three forms, and each can stand for the next:

* an `Agent` plays one game: it is handed a View, which shows what its seat may know and nothing else;
* a `BatchPolicy` answers many games in one call from observations and masks; `PolicyAgent` makes an Agent of it;
* the names of `BUILT_IN` run compiled; `make_agent` makes Agents of them that choose the same.

The batched environments seat all three: `Seating` hands an Agent one View a game.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

import numpy as np

from tabletop_envs.core.game import Game
from tabletop_envs.core.loops import GREEDY_POLICY, RANDOM_POLICY
from tabletop_envs.core.position import Position
from tabletop_envs.core.random import OPPONENTS, derive_key
from tabletop_envs.errors import GameOverError, IllegalActionError

if TYPE_CHECKING:
    from tabletop_envs.core.spec import Settings
    from tabletop_envs.render.scene import Scene

RANDOM: Final = "random"
GREEDY: Final = "greedy"
BUILT_IN: Final = {RANDOM: RANDOM_POLICY, GREEDY: GREEDY_POLICY}
"""Policies that run compiled, by name: uniform over the legal actions, and the game's one-step baseline."""


class View:
    """What the seat to act may know of a position: all that an agent gets to choose from.

    The position itself and its key are out of reach: a copy to search in comes from `determinized`, where all that
    the seat cannot know is dealt anew. Whatever is handed out is the agent's own.

    position: is copied; raises GameOverError where nobody is asked.
    """

    __slots__ = ("__position", "__seat")

    def __init__(self, position: Position) -> None:
        if position.seat is None:
            raise GameOverError("the game is over: nobody is asked")
        self.__position = position.clone()
        self.__seat = position.seat

    # --- the table

    @property
    def game(self) -> Game:
        """The game; its `spec`, `actions` and `observations` tell what the numbers mean."""
        return self.__position.game

    @property
    def options(self) -> dict[str, Any]:
        """Every option of this game by name."""
        return dict(self.__position.settings.values)

    @property
    def num_players(self) -> int:
        """Seats in play."""
        return self.__position.num_players

    @property
    def seat(self) -> int:
        """The seat to act: whose view this is."""
        return self.__seat

    @property
    def phase(self) -> str:
        """The name of the phase in small letters."""
        return self.__position.phase

    @property
    def decisions(self) -> int:
        """Decisions made so far, of all seats."""
        return self.__position.decisions

    # --- what the seat sees

    @property
    def observation(self) -> np.ndarray:
        """The observation, float32 in [0, 1]."""
        return self.__position.observe(self.__seat)

    def text(self) -> str:
        """The position in one or several lines."""
        return self.__position.text(self.__seat)

    def to_json(self) -> dict[str, Any]:
        """The facts that the seat may know, fit for `json.dumps`."""
        return self.__position.to_json(self.__seat)

    def scene(self) -> Scene:
        """The position as a picture, for `tabletop_envs.render` to draw."""
        return self.__position.scene(self.__seat)

    def events(self) -> list[str]:
        """What happened by itself since the last decision of any seat, in words."""
        return self.__position.events()

    # --- what it may do

    @property
    def action_mask(self) -> np.ndarray:
        """The action mask, int8 of the size of the action space."""
        return self.__position.action_mask()

    def legal_actions(self) -> np.ndarray:
        """The legal actions, ascending (int64)."""
        return self.__position.legal_actions()

    def action_text(self, action: int) -> str:
        """An action in words."""
        return self.__position.action_text(action)

    def parse_action(self, text: str) -> int:
        """The action that a text names, legal or not; raises NotationError."""
        return self.__position.parse_action(text)

    # --- search

    def determinized(self, salt: int) -> Position:
        """A position that the seat cannot tell from the true one: what it cannot know is dealt anew, and all chance
        ahead is another. The salt (0 to 2^31 - 1) chooses the deal."""
        return self.__position.determinize(self.__seat, salt)

    def __reduce__(self) -> str:
        raise TypeError("a View is not stored, as it would take the position with it: store what it shows")

    def __repr__(self) -> str:
        return f"<View of seat {self.seat}, {self.game.spec.env_id}, decision {self.decisions}, {self.phase}>"


class Agent(Protocol):
    """A player of one seat of one game.

    Besides, it may have `reset(seat, seed)`, called before each game with the seat that it takes and the seed of
    its own chance in that game (0 to 2^53 - 1), and `close()`, called when it is needed no more; see `begin` and
    `finish`. One that does not play with every number of players and option may have `check_table(settings)`, which
    raises OptionError where it does not, so that nobody has to begin such a game to learn it. An agent that sits at
    several tables at once is not told of their beginnings: it has to choose from the View alone. A search counts in
    `simulations_made` those that it ever made, so that its budget can be checked.
    """

    name: str

    def choose(self, view: View) -> int:
        """A legal action of the view's seat."""
        ...


class BatchPolicy(Protocol):
    """A policy that answers many positions in one call."""

    name: str

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> np.ndarray:
        """Legal actions, (n,) int64, for n observations (n, size) float32 with masks (n, actions) int8.

        Each observation is from the side of the seat that acts.
        """
        ...


Opponent: TypeAlias = str | BatchPolicy | Agent
"""Who can be seated: a built-in policy's name, a batch policy, or an agent."""


class PolicyAgent:
    """A batch policy as an agent."""

    def __init__(self, policy: BatchPolicy) -> None:
        self.policy = policy
        self.name = policy.name

    def check_table(self, settings: Settings) -> None:
        """Raises OptionError where the policy does not play with so many players or these options."""
        check_table(self.policy, settings)

    def choose(self, view: View) -> int:
        """The policy's action for a batch of one."""
        return int(self.policy.act(view.observation[None], view.action_mask[None])[0])


def check_table(agent: Opponent, settings: Settings) -> None:
    """Ask who is to be seated whether it plays with so many players and these options, if it can tell.

    Raises OptionError where it does not.
    """
    check = getattr(agent, "check_table", None)
    if check is not None:
        check(settings)


def policy_name(policy: Opponent) -> str:
    """How a policy is called in infos, tables and progress lines."""
    return policy if isinstance(policy, str) else policy.name


def begin(agent: Agent, seat: int, seed: int) -> None:
    """Tell an agent that a game begins, if it wants to know."""
    reset = getattr(agent, "reset", None)
    if reset is not None:
        reset(seat, seed)


def finish(agent: Agent) -> None:
    """Close an agent, if there is something to close."""
    close = getattr(agent, "close", None)
    if close is not None:
        close()


def seat_seed(seed: int, seat: int) -> int:
    """The seed that the agent of a seat is given for its own chance in the game of a seed."""
    return int(derive_key(seed, OPPONENTS, seat))


def ask(agent: Agent, position: Position) -> int:
    """The agent's action in a position; raises IllegalActionError, with the agent's name, for one that is not legal."""
    return legal_choice(agent.name, position, agent.choose(View(position)))


def legal_choice(name: str, position: Position, action: Any) -> int:
    """The action that an agent of this name gave, as a number; raises IllegalActionError for one that is not legal."""
    mask = position.action_mask()
    try:
        number = position.game.actions.check(action, len(mask))
    except IllegalActionError as error:
        raise IllegalActionError(f"the agent {name!r} has to be mended: {error}") from error
    if not mask[number]:
        raise IllegalActionError(
            f"the agent {name!r} has to be mended: {position.action_text(number)!r} ({number}) is not legal for "
            f"seat {position.seat} in phase {position.phase}"
        )
    return number
