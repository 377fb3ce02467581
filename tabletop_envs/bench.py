"""How fast a game is on this machine, measured in this process: random legal play, medians over repeats.

Rates are by the CPU clock of the process, so that time in which other processes have the core does not count.
`tabletop-envs bench` shows the quick parts, `benchmarks/speed.py` all of them; knows no other library's games.
"""

from __future__ import annotations

import pickle
import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tabletop_envs import make
from tabletop_envs.agents.base import BUILT_IN, View
from tabletop_envs.agents.mcts import MctsAgent
from tabletop_envs.core import loops
from tabletop_envs.core.game import Game
from tabletop_envs.core.header import KEY_LIMIT
from tabletop_envs.core.position import Position
from tabletop_envs.core.random import EPISODE, derive_key
from tabletop_envs.core.spec import Settings
from tabletop_envs.envs.solo import TabletopSolo
from tabletop_envs.envs.vector import TabletopVector, random_actions
from tabletop_envs.testing.subject import RANDOM, walk

if TYPE_CHECKING:
    from tabletop_envs.envs.sb3 import SelfPlayVecEnv

BATCHES: Final = (1, 64, 1024)
VECTORS: Final = (64, 1024)
REPEATS: Final = 5
SEARCHES: Final = 1000  # simulations a choice

# Figures of these names are also measured of other libraries' games, so that ratios can be told.
AEC_LOOP: Final = "AEC through agent_iter, last and step"
SINGLE_LOOP: Final = "one game from Python, legal actions"
OBSERVED_LOOP: Final = "one game from Python, action mask and observation"

DECISIONS: Final = "decisions/s"
GAMES: Final = "games/s"
PER_DECISION: Final = "ns/decision"
MICROSECONDS: Final = "µs"
MILLISECONDS: Final = "ms"
BYTES: Final = "bytes"

_CHUNK: Final = 20_000  # decisions between two looks at the clock
_SLICES: Final = 16  # groups of a batch that are led to different points of their games
_LENGTHS: Final = 200  # games behind the mean number of decisions a game
_WALKS: Final = 8  # games from which positions are taken
_POSITIONS: Final = 64


@dataclass(frozen=True)
class Figure:
    """One measured value. low, high: the least and the greatest of the repeats; note: what exactly was done."""

    name: str
    value: float
    unit: str
    low: float | None = None
    high: float | None = None
    note: str = ""


class Rate(NamedTuple):
    """Units per second: the median, the least and the greatest of the repeats."""

    median: float
    low: float
    high: float

    def figure(self, name: str, unit: str, units_each: float = 1.0, note: str = "") -> Figure:
        """As things per second, each of which is so many units."""
        return Figure(name, *(self.median / units_each, unit, self.low / units_each, self.high / units_each), note)

    def time(self, name: str, unit: str, scale: float, note: str = "") -> Figure:
        """As the time that one unit takes; scale: of these in a second."""
        return Figure(name, scale / self.median, unit, scale / self.high, scale / self.low, note)


class Stopwatch:
    """A CPU clock that runs only inside its `with` block."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._started = 0.0

    def __enter__(self) -> None:
        self._started = time.process_time()

    def __exit__(self, *exception: object) -> None:
        self.seconds += time.process_time() - self._started

    def __call__(self) -> float:
        """Seconds so far."""
        return self.seconds


def rate(
    work: Callable[[], int],
    seconds: float,
    repeats: int = REPEATS,
    clock: Callable[[], float] = time.process_time,
) -> Rate:
    """Units per second over all repeats; `work` does some units, at least one, and returns their number."""
    work()
    rates = []
    for _ in range(repeats):
        done, started = 0, clock()
        while (spent := clock() - started) < seconds / repeats:
            done += work()
        rates.append(done / spent)
    return Rate(statistics.median(rates), min(rates), max(rates))


# --- many games in compiled loops -------------------------------------------------------------------------------


def game_length(game: Game, settings: Settings, policy: int = loops.RANDOM_POLICY) -> float:
    """The mean number of decisions a game in which a built-in policy plays every seat."""
    template = game.template(settings)
    states = template.copy()
    mask = np.zeros(game.num_actions(settings), dtype=np.int8)
    made = 0
    for number in range(_LENGTHS):
        key = derive_key(number, EPISODE, 0)
        loops.deal(game.calls, template, states, 0, key, mask)
        made += loops.play_out(game.calls, game.greedy_call, states, 0, mask, policy, key)
    return made / _LENGTHS


def batch_rate(game: Game, settings: Settings, size: int, observed: bool, length: float, seconds: float) -> Rate:
    """Decisions of a batch of `size` games, spread over the whole of their length before the clock starts."""
    template = game.template(settings)
    states = np.repeat(template, size)
    masks = np.zeros((size, game.num_actions(settings)), dtype=np.int8)
    outs = np.zeros((size if observed else 0, game.observation_size(settings)), dtype=np.float32)
    keys = np.array([derive_key(size, EPISODE, row) for row in range(size)])
    loops.deal_batch(game.calls, template, states, np.arange(size), keys, masks)
    total = 0

    def play(first: int, steps: int) -> int:
        nonlocal total
        decisions, _ = loops.random_batch(
            game.calls, template, states[first:], masks[first:], outs[first:], total, steps
        )
        total += int(decisions)
        return int(decisions)

    for part in range(1, _SLICES):
        if part < size:
            play(part * size // _SLICES, max(1, round(length / _SLICES)))
    return rate(lambda: play(0, max(1, _CHUNK // size)), seconds)


def batch_figures(game: Game, settings: Settings, seconds: float) -> list[Figure]:
    """Rules with action masks, and with observations too, in compiled loops over batches."""
    length = game_length(game, settings)
    figures = [Figure("length of a random game", length, "decisions", note=f"mean of {_LENGTHS} games")]
    for observed in (False, True):
        for size in BATCHES:
            found = batch_rate(game, settings, size, observed, length, seconds)
            name = f"rules + mask{' + observation' if observed else ''}, batch {size:,}"
            figures.append(found.figure(name, DECISIONS))
            figures.append(found.time(name, PER_DECISION, 1e9))
            figures.append(found.figure(name, GAMES, length))
    return figures


# --- one game from Python ---------------------------------------------------------------------------------------


def single_rate(game: Game, settings: Settings, observed: bool, seconds: float) -> Rate:
    """Decisions of one game stepped from Python through compiled loops into buffers of the caller."""
    template = game.template(settings)
    states = template.copy()
    mask = np.zeros(game.num_actions(settings), dtype=np.int8)
    out = np.zeros(game.observation_size(settings), dtype=np.float32)
    nonzero = mask.view(np.bool_).nonzero  # thrice as fast as np.flatnonzero of int8
    calls, random = game.calls, np.random.default_rng(0).random
    deal, step, observe, step_observed = loops.deal, loops.step, loops.observe, loops.step_observed

    def plain() -> int:
        count, made = deal(calls, template, states, 0, int(random() * KEY_LIMIT), mask), 0
        while count:
            count = step(calls, states, 0, nonzero()[0][int(random() * count)], mask)
            made += 1
        return made

    def with_observation() -> int:
        deal(calls, template, states, 0, int(random() * KEY_LIMIT), mask)
        observe(calls, states, 0, max(int(states["seat"][0]), 0), out)
        made = 0
        while len(legal := nonzero()[0]):
            step_observed(calls, states, 0, legal[int(random() * len(legal))], mask, out)
            made += 1
        return made

    return rate(with_observation if observed else plain, seconds)


def single_figures(game: Game, settings: Settings, seconds: float) -> list[Figure]:
    """One game stepped from Python, choosing the actions included."""
    chosen = "buffers of the caller; nonzero of the mask and a random number included"
    return [
        single_rate(game, settings, False, seconds).figure(SINGLE_LOOP, DECISIONS, note=f"loops.step, {chosen}"),
        single_rate(game, settings, True, seconds).figure(
            OBSERVED_LOOP, DECISIONS, note=f"loops.step_observed, {chosen}"
        ),
    ]


def aec_rate(env: Any, seconds: float) -> Rate:
    """Decisions of any PettingZoo environment with action masks, choosing the actions included."""
    flatnonzero, random = np.flatnonzero, np.random.default_rng(0).random
    env.reset(seed=0)

    def work() -> int:
        env.reset()
        made = 0
        for _ in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            legal = flatnonzero(observation["action_mask"])
            env.step(int(legal[int(random() * len(legal))]))
            made += 1
        return made

    return rate(work, seconds)


def aec_figures(game: Game, settings: Settings, seconds: float) -> list[Figure]:
    """The PettingZoo environment as `tabletop_envs.make` hands it out."""
    env = make(game.spec.env_id, settings.num_players, **settings.values)
    note = "np.flatnonzero of the mask and a random number included"
    return [aec_rate(env, seconds).figure(AEC_LOOP, DECISIONS, note=note)]


def solo_rate(env: TabletopSolo, seconds: float) -> Rate:
    """The learner's decisions, choosing the actions and the opponents' decisions included."""
    random = np.random.default_rng(0).random
    env.reset(seed=0)

    def work() -> int:
        _, info = env.reset()
        made, terminated = 0, False
        while not terminated:
            legal = np.flatnonzero(info["action_mask"])
            _, _, terminated, _, info = env.step(int(legal[int(random() * len(legal))]))
            made += 1
        return made

    return rate(work, seconds)


def solo_figures(game: Game, settings: Settings, seconds: float) -> list[Figure]:
    """`TabletopSolo`: the learner's decisions against compiled opponents."""
    figures = []
    for name in BUILT_IN:
        env = TabletopSolo(game, settings.num_players, opponents=name, **settings.values)
        note = f"np.flatnonzero of the mask, a random number and the decisions of compiled {name} opponents included"
        figures.append(solo_rate(env, seconds).figure(f"TabletopSolo against {name}, learner's", DECISIONS, note=note))
    return figures


# --- batched environments ---------------------------------------------------------------------------------------


Step = Callable[[np.ndarray], np.ndarray]
"""Takes the actions of all games, returns the masks of their next decisions."""


def stepped_rate(step: Step, masks: np.ndarray, length: float, seconds: float) -> tuple[Rate, float]:
    """Decisions by the time inside `step` alone, and the seconds that choosing takes, a decision.

    First, a whole game's decisions are made in each row off the clock, so that the rows stand at different points.
    """
    random = np.random.default_rng(0).random
    stepping, choosing = Stopwatch(), Stopwatch()
    chosen = 0

    def work() -> int:
        nonlocal masks, chosen
        with choosing:
            actions = random_actions(masks, random)
        with stepping:
            masks = step(actions)
        chosen += len(actions)
        return len(actions)

    for _ in range(round(length)):
        work()
    found = rate(work, seconds, clock=stepping)
    return found, choosing.seconds / chosen


def _stepped(name: str, found: tuple[Rate, float], note: str) -> list[Figure]:
    stepping, choosing = found
    return [
        stepping.figure(name, DECISIONS, note=f"{note}; without the choice of actions"),
        Figure(f"{name}: choosing actions", choosing * 1e9, PER_DECISION, note="numpy, for all games at once"),
    ]


def _vector_step(env: TabletopVector) -> Step:
    return lambda actions: env.step(actions).action_masks


def _self_play_step(env: SelfPlayVecEnv) -> Step:
    def step(actions: np.ndarray) -> np.ndarray:
        env.step(actions)
        return env.action_masks()

    return step


def vector_figures(game: Game, settings: Settings, seconds: float) -> list[Figure]:
    """`TabletopVector`: all seats played by the caller."""
    length = game_length(game, settings)
    figures = []
    for size in VECTORS:
        env = TabletopVector(game, size, settings.num_players, **settings.values)
        masks = env.reset(seed=0).action_masks
        found = stepped_rate(_vector_step(env), masks, length, seconds)
        figures += _stepped(f"TabletopVector, {size:,} games", found, "step")
    return figures


def self_play_figures(game: Game, settings: Settings, seconds: float) -> list[Figure]:
    """`SelfPlayVecEnv`: the learner's decisions against compiled random opponents.

    Raises MissingExtraError without stable-baselines3.
    """
    from tabletop_envs.envs.sb3 import SelfPlayVecEnv

    length = game_length(game, settings) / settings.num_players
    figures = []
    for size in VECTORS:
        env = SelfPlayVecEnv(game, size, settings.num_players, opponents="random", seed=0, **settings.values)
        env.reset()
        found = stepped_rate(_self_play_step(env), env.action_masks(), length, seconds)
        name = f"SelfPlayVecEnv, {size:,} games, learner's"
        figures += _stepped(name, found, "step and action_masks, the random opponents' decisions included")
    return figures


# --- a position in hand -----------------------------------------------------------------------------------------


def some_positions(game: Game, settings: Settings) -> list[Position]:
    """Positions before a decision, spread evenly over the length of a few random games."""
    met = [
        position.clone()
        for seed in range(_WALKS)
        for position in walk(game, settings, seed, RANDOM)
        if not position.over
    ]
    return [met[number * len(met) // _POSITIONS] for number in range(_POSITIONS)]


def position_figures(game: Game, settings: Settings, seconds: float) -> list[Figure]:
    """What a copy, a determinization and storage of a `Position` cost."""
    positions = some_positions(game, settings)
    for position in positions:
        position.determinize(position.seat or 0, 1)  # compiled before the clock starts
    stored = [pickle.dumps(position) for position in positions]

    def mean_time(name: str, call: Callable[[Any], object], items: Iterable[Any]) -> Figure:
        held = list(items)

        def work() -> int:
            for item in held:
                call(item)
            return len(held)

        return rate(work, seconds).time(name, MICROSECONDS, 1e6)

    asked = [(position, position.seat, 1) for position in positions]
    return [
        mean_time("Position.clone", Position.clone, positions),
        mean_time("Position.determinize for the seat to act", lambda given: Position.determinize(*given), asked),
        mean_time("Position.to_bytes", Position.to_bytes, positions),
        mean_time("pickle a Position", pickle.dumps, positions),
        mean_time("unpickle a Position", pickle.loads, stored),
        Figure("pickled Position", len(stored[0]), BYTES),
    ]


def greedy_figures(game: Game, settings: Settings, seconds: float) -> list[Figure]:
    """The game's greedy baseline: a choice, and whole games of it against itself."""
    positions = some_positions(game, settings)
    template = game.template(settings)
    states = template.copy()
    mask = np.zeros(game.num_actions(settings), dtype=np.int8)
    calls = game.calls
    key = 0

    def choose() -> int:
        for position in positions:
            position.greedy_action(1)
        return len(positions)

    def play() -> int:
        nonlocal key
        key += 1
        loops.deal(calls, template, states, 0, key, mask)
        loops.play_out(calls, game.greedy_call, states, 0, mask, loops.GREEDY_POLICY, key)
        return 1

    choose()
    length = game_length(game, settings, loops.GREEDY_POLICY)
    return [
        rate(choose, seconds).time(
            "greedy choice", MICROSECONDS, 1e6, "Position.greedy_action, in positions of random games"
        ),
        rate(play, seconds).figure("greedy against greedy", GAMES, note="play_out, compiled"),
        Figure("length of a greedy game", length, "decisions", note=f"mean of {_LENGTHS} games"),
    ]


def search_figures(game: Game, settings: Settings, seconds: float) -> list[Figure]:
    """The search agent with playouts to the end of the game: what is simulated, and a choice."""
    views = [View(position) for position in some_positions(game, settings)]
    agent = MctsAgent(game, SEARCHES, playout=RANDOM, playout_decisions=-1, reuse=False)
    number = 0

    def simulate() -> int:
        nonlocal number
        number += 1
        before = agent.decisions_made
        agent.search(views[number % len(views)])
        return agent.decisions_made - before

    def choose() -> int:
        simulate()
        return 1

    note = f"{agent.name} in positions of random games, random playouts to the end"
    return [
        rate(simulate, seconds).figure(f"{agent.name}, simulated", DECISIONS, note=note),
        rate(choose, seconds).time(f"{agent.name}, a choice", MILLISECONDS, 1e3, note),
    ]


def size_figures(game: Game, settings: Settings, seconds: float = 0.0) -> list[Figure]:
    """Sizes of record, action space and observation; takes no time."""
    return [
        Figure("record", game.dtype.itemsize, BYTES),
        Figure("action space", game.num_actions(settings), "actions", note="a mask is so many bytes"),
        Figure("observation", game.observation_size(settings), "float32"),
    ]


Part = Callable[[Game, Settings, float], list[Figure]]

PARTS: Final[Mapping[str, Part]] = {
    "compiled batches": batch_figures,
    "one game from Python": single_figures,
    "AEC": aec_figures,
    "TabletopSolo": solo_figures,
    "TabletopVector": vector_figures,
    "SelfPlayVecEnv": self_play_figures,
    "positions": position_figures,
    "greedy baseline": greedy_figures,
    "search": search_figures,
    "sizes": size_figures,
}
"""All that is measured of one game in one process, by a name for progress bars and tables."""

QUICK: Final = ("compiled batches", "one game from Python", "AEC", "sizes")


def measure(game: Game, settings: Settings, seconds: float = 1.0) -> dict[str, float]:
    """The values of the quick parts by name and unit; seconds: for each rate."""
    figures = [figure for part in QUICK for figure in PARTS[part](game, settings, seconds)]
    return {f"{figure.name} ({figure.unit})": figure.value for figure in figures}
