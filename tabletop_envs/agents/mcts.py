"""The search agent: Monte Carlo tree search over what its seat may know. The tree is `core/search.py`.

It searches in a determinized copy and re-deals it for each simulation, so it cannot see a hidden card or a coming
draw. Its budget is a number of simulations, never time: the same seed and the same views give the same choices.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tabletop_envs.agents.base import BUILT_IN, GREEDY, RANDOM, View
from tabletop_envs.agents.random import salt_of
from tabletop_envs.core import search
from tabletop_envs.core.checks import is_whole
from tabletop_envs.core.game import Game
from tabletop_envs.core.position import Position, check_key
from tabletop_envs.core.random import SALT_LIMIT
from tabletop_envs.core.search import Memory
from tabletop_envs.errors import OptionError

SIMULATIONS: Final = 1000
EXPLORATION: Final = 1.0
GREEDY_SHARE: Final = 0.3
WIN_SHARE: Final = 0.5

_MAX_SIMULATIONS: Final = 10**7
_EDGES_A_NODE: Final = 48  # room; more legal actions than that on average, and the tree is full earlier
_TURNS: Final = 2  # how many searches' nodes the memory holds


class MctsAgent:
    """Chooses the action that most of its simulations led through.

    simulations: how many a decision; playout: the built-in policy that plays on behind the tree, `random` or `greedy`;
    playout_decisions: a playout is scored as it stands after so many (-1: never before the end; None, for both: as the
    game's spec says); exploration: the weight of what was little tried; greedy_share: of the prior, goes to the
    greedy baseline's choice; reuse: go on with the tree while the same seat decides several times in a row; seed: of
    its chance, until `reset` gives another.

    Raises OptionError for values that are not possible.
    """

    def __init__(
        self,
        game: Game,
        simulations: int = SIMULATIONS,
        *,
        playout: str | None = None,
        playout_decisions: int | None = None,
        exploration: float = EXPLORATION,
        greedy_share: float = GREEDY_SHARE,
        reuse: bool = True,
        seed: int = 0,
    ) -> None:
        self.simulations = _whole("simulations", simulations, 1, _MAX_SIMULATIONS)
        policy = game.spec.playout if playout is None else playout
        if policy not in BUILT_IN:
            raise OptionError(f"playout={policy!r} is not possible: give {RANDOM!r} or {GREEDY!r}")
        limit = game.spec.playout_decisions if playout_decisions is None else playout_decisions
        self.game = game
        self.name = f"mcts-{self.simulations}"
        self.reuse = bool(reuse)
        self.seed = check_key(seed)
        self.simulations_made = 0  # ever
        self.decisions_made = 0  # in simulations, ever
        self._parameters = np.zeros(1, dtype=search.PARAMETERS)
        parameters = self._parameters[0]
        parameters["exploration"] = _real("exploration", exploration, 0, 1000)
        parameters["greedy_share"] = _real("greedy_share", greedy_share, 0, 1)
        parameters["win_share"] = WIN_SHARE
        parameters["score_scale"] = game.spec.score_scale
        parameters["playout"] = BUILT_IN[policy]
        parameters["playout_decisions"] = _whole("playout_decisions", limit, -1, 2**31 - 1)
        self._memory: Memory | None = None
        self._last: tuple[int, int] | None = None

    def reset(self, seat: int, seed: int) -> None:
        """Begin a game with a seed of its own."""
        self.seed = check_key(seed)
        self._last = None

    def choose(self, view: View) -> int:
        """The action whose edge has the most visits, then the highest mean value."""
        legal = view.legal_actions()
        if len(legal) == 1:
            return int(legal[0])
        actions, visits, means = self.search(view)
        return int(actions[np.lexsort((means, visits))[-1]])

    def search(self, view: View) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Search, and return the root's actions, visits, and mean values in [0, 1] (nan without a visit)."""
        salt = salt_of(self.seed, view)
        copy = view.determinized(salt % SALT_LIMIT)
        m = self._memory_for(copy)
        if not self._goes_on(view, m):
            m.clear()
        self.decisions_made += search.search(
            self.game.calls, self.game.greedy_call, copy.states, m, self._parameters, self.simulations, salt
        )
        self.simulations_made += self.simulations
        self._last = view.seat, view.decisions
        root = m.nodes[m.root[0]]
        edges = m.edges[root["first"] : root["first"] + root["count"]]
        with np.errstate(invalid="ignore"):
            means = edges["value"] / edges["visits"]
        return edges["action"].copy(), edges["visits"].copy(), means

    def _memory_for(self, position: Position) -> Memory:
        """Made for the first search, and anew where options change the observation."""
        game, settings = self.game, position.settings
        size, actions = game.observation_size(settings), game.num_actions(settings)
        if self._memory is None or (len(self._memory.out), len(self._memory.mask)) != (size, actions):
            nodes = _TURNS * self.simulations + 1
            edges = nodes * min(_EDGES_A_NODE, actions) + actions
            self._memory = search.memory(game.dtype, game.spec.max_players, actions, size, nodes, edges)
            self._last = None
        return self._memory

    def _goes_on(self, view: View, m: Memory) -> bool:
        """Whether the tree may be kept: its seat decides again, nobody has decided since, and there is room.

        Its nodes are keyed by what seats know, so none of them can stand for another situation; what was learnt of
        them before the last decision stays true after it.
        """
        if not self.reuse or self._last != (view.seat, view.decisions - 1):
            return False
        room = len(m.nodes) - m.used[0], len(m.edges) - m.used[1]
        return bool(room[0] > self.simulations and room[1] > len(m.edges) // _TURNS)


def _whole(name: str, value: Any, low: int, high: int) -> int:
    if not is_whole(value, low, high):
        raise OptionError(f"{name}={value!r} is not possible: give a whole number from {low} to {high}")
    return int(value)


def _real(name: str, value: Any, low: float, high: float) -> float:
    if not isinstance(value, (int, float, np.number)) or isinstance(value, bool) or not low <= value <= high:
        raise OptionError(f"{name}={value!r} is not possible: give a number from {low} to {high}")
    return float(value)
