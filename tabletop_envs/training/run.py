"""A training run: MaskablePPO in self-play against a pool, in a folder from which it can be resumed.

The folder holds `config.json`, `checkpoint.zip` (the model), `state.json` (steps, time, snapshots), `snapshots/`,
`progress.csv`, `curve.png` and `evaluation.json`. Every file is replaced whole, so a kill at any moment leaves the
last complete one; at most the steps since the last checkpoint are lost. Where a kill came between two files and
they tell different steps, the checkpoint is right. While it trains, the run holds `.lock`.
"""

from __future__ import annotations

import csv
import json
import math
import random
import signal
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from matplotlib.figure import Figure
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.utils import FloatSchedule

from tabletop_envs import registry
from tabletop_envs.agents.base import BUILT_IN, Opponent
from tabletop_envs.agents.sb3 import TorchPolicy
from tabletop_envs.core.game import Game
from tabletop_envs.core.spec import Settings
from tabletop_envs.envs.rewards import Reward
from tabletop_envs.envs.sb3 import LEARNER, OpponentPool, SelfPlayVecEnv
from tabletop_envs.envs.vector import random_actions
from tabletop_envs.errors import CorruptDataError, OptionError
from tabletop_envs.files import claimed, draft_of, replace_file
from tabletop_envs.training.evaluation import Evaluation, evaluate
from tabletop_envs.training.learner import Learner
from tabletop_envs.training.network import LayoutPolicy, LayoutTrunk, NetworkShape

FORMAT: Final = 3
LATEST: Final = "latest"
SNAPSHOT: Final = "snapshot"
MET: Final = 2  # snapshots in the pool at a time
REMIX: Final = 4  # rollouts after which the pool is mixed anew
ENOUGH: Final = 40  # games after which a win share counts
LEAST_INTEREST: Final = 0.1
TYPICAL: Final = 1000  # decisions of a game, at most, that tell how long games are and how large inputs
LOOKED_AT: Final = 16  # games whose observations do
CONFIG: Final = "config.json"
LOCK: Final = ".lock"

_SEED_LIMIT: Final = 2**32  # of the global generators that Stable-Baselines3 seeds
_LARGE: Final = 2**31 - 1
# field of RunConfig -> its least and greatest value
_WHOLE: Final[Mapping[str, tuple[int, int]]] = {
    "num_players": (1, _LARGE),
    "seed": (0, _SEED_LIMIT - 1),
    "num_envs": (1, _LARGE),
    "rollout": (1, _LARGE),
    "batch_size": (2, _LARGE),
    "epochs": (1, _LARGE),
    "channels": (1, _LARGE),
    "depth": (0, _LARGE),
    "width": (1, _LARGE),
    "snapshots": (1, _LARGE),
}
_POSITIVE: Final = ("minutes", "horizon", "learning_rate", "clip", "snapshot_minutes", "imitation_rate")
_SHARES: Final = ("gamma", "imitation")
_SWITCHES: Final = ("as_earned", "append_mask")


@dataclass(frozen=True)
class RunConfig:
    """What a run is; written to `config.json` and read back when it resumes.

    game, num_players, options: the game; minutes: training time, over all its parts; seed: of chance and weights;
    num_envs, rollout (decisions a game and update), batch_size, epochs, learning_rate (falls linearly to a tenth),
    entropy, gamma, clip: PPO; horizon: how far its credit reaches, as a share of the decisions that the learner has in
    a game (between baselines): GAE's lambda is 1 - 1 / (horizon * decisions); reward, as_earned: see `SelfPlayVecEnv`;
    append_mask: the network sees the mask; channels, depth, width: the network, see `LayoutTrunk`; pool: weights of
    `latest`, `snapshot` and the built-in policies as opponents (a baseline's falls while its games are won for
    certain); snapshot_minutes, snapshots: a past self joins the pool so often, at most so many stay; imitation: share
    of the time, at its beginning, in which the greedy baseline's choices are learnt instead, against baselines alone
    (never again once PPO has begun), at the learning rate imitation_rate.
    """

    game: str
    num_players: int
    options: dict[str, Any] = field(default_factory=dict)
    minutes: float = 10.0
    seed: int = 0
    num_envs: int = 128
    rollout: int = 128
    batch_size: int = 1024
    epochs: int = 4
    learning_rate: float = 5e-4
    entropy: float = 0.003
    gamma: float = 1.0
    horizon: float = 0.33
    clip: float = 0.2
    reward: dict[str, float] = field(default_factory=lambda: {"win": 0.5, "margin": 0.5})
    as_earned: bool = True
    append_mask: bool = True
    channels: int = 16
    depth: int = 1
    width: int = 128
    pool: dict[str, float] = field(default_factory=lambda: {LATEST: 0.05, SNAPSHOT: 0.05, "random": 0.1, "greedy": 0.8})
    snapshot_minutes: float = 1.0
    snapshots: int = 8
    imitation: float = 0.2
    imitation_rate: float = 2e-3

    def __post_init__(self) -> None:
        self._demand("game", isinstance(self.game, str), "the id of a game")
        for name, (low, high) in _WHOLE.items():
            self._demand(name, _is_whole(getattr(self, name), low, high), f"a whole number from {low} to {high}")
        for name in _POSITIVE:
            self._demand(name, _is_number(getattr(self, name)) and getattr(self, name) > 0, "a positive number")
        for name in _SHARES:
            self._demand(name, _is_number(getattr(self, name)) and getattr(self, name) <= 1, "a number from 0 to 1")
        self._demand("entropy", _is_number(self.entropy), "a number, 0 or more")
        for name in _SWITCHES:
            self._demand(name, isinstance(getattr(self, name), bool), "true or false")
        for name in ("options", "pool"):
            self._demand(name, isinstance(getattr(self, name), Mapping), "names with values")
        unknown = sorted(map(str, set(self.pool) - {LATEST, SNAPSHOT, *BUILT_IN}))
        if unknown:
            raise OptionError(f"no opponent {unknown[0]!r}: there are {LATEST}, {SNAPSHOT}, {', '.join(BUILT_IN)}")
        weighed = all(map(_is_number, self.pool.values())) and sum(self.pool.values()) > 0
        self._demand("pool", weighed, "each opponent a weight of 0 or more, and not all of them 0")
        decisions = self.num_envs * self.rollout
        if decisions % self.batch_size == 1:
            # the spread of a single advantage is not a number, and would make the whole network so
            raise OptionError(
                f"batch_size={self.batch_size} is not possible: of the {self.num_envs} * {self.rollout} decisions "
                "of an update one would be left alone; give another batch_size, num_envs or rollout"
            )

    def _demand(self, name: str, fits: bool, wanted: str) -> None:
        if not fits:
            raise OptionError(f"{name}={getattr(self, name)!r} is not possible: give {wanted}")

    def settings(self, game: Game) -> Settings:
        """The checked players and options."""
        return game.settings(self.num_players, **self.options)


def _is_whole(value: Any, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _is_number(value: Any) -> bool:
    """Whether a value is a finite number, 0 or more."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < math.inf


@dataclass(frozen=True)
class Progress:
    """Where a run stands; handed to the progress callback after each rollout.

    fraction: of the training time; steps: learner's decisions; seconds: trained; rate: steps a second of late;
    shares: opponent -> win share over its last games; stopping: a stop was asked for.
    """

    fraction: float
    steps: int
    seconds: float
    rate: float
    shares: dict[str, float]
    stopping: bool


class TrainingRun:
    """A run in its folder: new, or where the last part of it stopped.

    config: of a new run; for an old one it has to agree with the folder's (except `minutes`, see `extend`) or be
    left out. Raises OptionError for a configuration that is not possible or not the folder's, CorruptDataError
    when the folder holds something that is no run, or a damaged one; the folder is then unchanged.
    """

    def __init__(self, folder: Path, config: RunConfig | None = None) -> None:
        self.folder = Path(folder)
        self.resumed = is_run(self.folder)
        self.state: dict[str, Any] = {"format": FORMAT, "steps": 0, "seconds": 0.0, "snapshots": [], "taken": 0}
        if self.resumed:
            stored = load_config(self.folder)
            if config is not None:
                _demand_same(self.folder, stored, config)
            config = stored
            if (self.folder / "state.json").exists():
                self.state = _load_state(self.folder / "state.json")
        elif config is None:
            raise CorruptDataError(f"{self.folder} holds no run: start one by naming a game")
        elif not _is_free(self.folder):
            raise CorruptDataError(f"{self.folder} is not empty and holds no run: choose another folder")
        self.game = registry.load(config.game)
        self.settings = config.settings(self.game)
        Reward(config.reward, self.game.spec)  # refuses a reward that there is not
        self.config = replace(config, game=self.game.spec.id, options=self.settings.changed())
        if not self.resumed:
            _write_json(self.folder / CONFIG, {"format": FORMAT, **asdict(self.config)})

    def extend(self, minutes: float) -> None:
        """Set the run's whole training time anew, before it goes on."""
        self.config = replace(self.config, minutes=minutes)
        _write_json(self.folder / CONFIG, {"format": FORMAT, **asdict(self.config)})

    def train(self, on_progress: Callable[[Progress], None] | None = None) -> bool:
        """Train to the end of the time; True when it is reached, False when a stop (Ctrl-C) came first.

        on_progress: called after each rollout. The folder is complete in both cases. Raises OptionError while another
        process trains the run, or where one has since this object was made.
        """
        if self.state["seconds"] >= 60 * self.config.minutes:
            return True
        with claimed(self.folder / LOCK, f"{self.folder} is being trained by another process: stop it, or let it end"):
            state = self.folder / "state.json"
            if state.exists() and _load_state(state)["steps"] != self.state["steps"]:
                raise OptionError(f"{self.folder} was trained further meanwhile: open the run again")
            return self._train(on_progress)

    def _train(self, on_progress: Callable[[Progress], None] | None) -> bool:
        config = self.config
        # each part of a run has games and draws of its own
        seed = (config.seed + self.state["steps"]) % _SEED_LIMIT
        env = SelfPlayVecEnv(
            self.game,
            config.num_envs,
            config.num_players,
            opponents="random",
            reward=config.reward,
            as_earned=config.as_earned,
            append_mask=config.append_mask,
            seed=seed,
            **config.options,
        )
        model = self._model(env, seed)
        watcher = _Watcher(self, model, env.pool, on_progress)
        with watcher.listening():
            model.learn(2**62, callback=watcher, reset_num_timesteps=False)
        watcher.save()
        return not watcher.stopping

    def _model(self, env: SelfPlayVecEnv, seed: int) -> Learner:
        config = self.config
        path = self.folder / "checkpoint.zip"
        if path.exists():
            return load_model(path, env, seed)
        shape = NetworkShape.of(self.game.observations, self.game.actions, self.settings.values, config.append_mask)
        sizes = {"shape": shape, "channels": config.channels, "depth": config.depth, "width": config.width}
        observations, decisions = _typical(env)
        model = Learner(
            LayoutPolicy,
            env,
            learning_rate=config.learning_rate,
            n_steps=config.rollout,
            batch_size=config.batch_size,
            n_epochs=config.epochs,
            gamma=config.gamma,
            gae_lambda=max(0.0, 1.0 - 1.0 / (config.horizon * decisions)),
            clip_range=config.clip,
            ent_coef=config.entropy,
            policy_kwargs={"features_extractor_kwargs": sizes},
            seed=seed,
            device="cpu",
        )
        trunk = model.policy.features_extractor
        assert isinstance(trunk, LayoutTrunk)
        trunk.set_scale(observations)
        return model

    def policy(self, deterministic: bool = True, seed: int | None = None) -> TorchPolicy:
        """The trained policy of the last checkpoint; see `TorchPolicy`."""
        return load_policy(self.folder, deterministic, seed)

    def evaluate(self, games: int = 400) -> list[Evaluation]:
        """Play the checkpoint against the built-in policies and write `evaluation.json`."""
        results = [
            evaluate(self.game, self.settings, self.policy(), opponent, games, self.config.seed)
            for opponent in BUILT_IN
        ]
        facts = {"steps": self.state["steps"], "seconds": self.state["seconds"]}
        _write_json(self.folder / "evaluation.json", {**facts, "results": [r.as_dict() for r in results]})
        return results


class _Watcher(BaseCallback):
    """Feeds the pool, counts results, saves, and stops at the end of the time or on a signal."""

    SAVE_EVERY = 60.0  # seconds between checkpoints
    RECENT = 400  # games behind a win share

    def __init__(
        self,
        run: TrainingRun,
        model: Learner,
        pool: OpponentPool,
        on_progress: Callable[[Progress], None] | None,
    ) -> None:
        super().__init__()
        self.run, self.pool, self.on_progress = run, pool, on_progress
        self.stopping = False
        self.results: dict[str, deque[float]] = defaultdict(lambda: deque(maxlen=self.RECENT))
        self.rows: list[dict[str, Any]] = _read_progress(run.folder / "progress.csv", model.num_timesteps)
        self.latest = TorchPolicy(model.policy, LATEST, append_mask=run.config.append_mask)
        self.past = [self._snapshot(model, name) for name in run.state["snapshots"]]
        self.before = float(run.state["seconds"])
        self.started = self.saved = self.rated = time.monotonic()
        self.rated_steps = model.num_timesteps
        self.rollouts = 0
        self.rng = random.Random(run.config.seed)
        self.learner = model
        model.imitating = self.imitating
        self._mix_pool()  # before the environment deals its first games

    def _snapshot(self, model: Learner, name: str) -> TorchPolicy:
        twin = self.latest.frozen(SNAPSHOT)
        path = self.run.folder / "snapshots" / name
        try:
            twin.policy.load_state_dict(torch.load(path, weights_only=True))
        except Exception as error:
            raise CorruptDataError(f"{path} cannot be read ({error}): remove it from state.json to go on") from error
        return twin

    @property
    def seconds(self) -> float:
        return self.before + time.monotonic() - self.started

    @property
    def fraction(self) -> float:
        return min(1.0, self.seconds / (60 * self.run.config.minutes))

    @property
    def imitating(self) -> bool:
        # a run that has gone on to PPO never falls back, however its time is extended
        return self.learner._n_updates == 0 and self.fraction < self.run.config.imitation

    @contextmanager
    def listening(self) -> Iterator[None]:
        """The first SIGINT or SIGTERM stops in good order, the next one at once."""

        def stop(number: int, frame: Any) -> None:
            if self.stopping:
                raise KeyboardInterrupt
            self.stopping = True

        before = {}
        try:
            for number in (signal.SIGINT, signal.SIGTERM):
                before[number] = signal.signal(number, stop)
        except ValueError:
            pass  # not the main thread: whoever runs us handles signals
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _on_step(self) -> bool:
        for info in self.locals["infos"]:
            if "episode" in info:
                winners = info["places"].count(1)
                share = (info["places"][info["seat"]] == 1) / winners
                for name in set(info["opponents"]) - {LEARNER}:
                    self.results[name].append(share)
        return not self.stopping

    def _on_rollout_start(self) -> None:
        config = self.run.config
        falling = config.learning_rate * max(0.1, 1.0 - self.fraction)
        rate = config.imitation_rate if self.learner.imitating else falling
        self.model.lr_schedule = FloatSchedule(rate)
        due = int(self.seconds / 60 / config.snapshot_minutes)
        if due > self.run.state.get("taken", 0):
            self._take_snapshot(due)
        if self.rollouts % REMIX == 0:
            self._mix_pool()
        self.rollouts += 1
        if time.monotonic() - self.saved > self.SAVE_EVERY:
            self.save()

    def _on_rollout_end(self) -> None:
        now = time.monotonic()
        rate = (self.num_timesteps - self.rated_steps) / max(now - self.rated, 1e-9)
        self.rated, self.rated_steps = now, self.num_timesteps
        shares = {name: float(np.mean(results)) for name, results in sorted(self.results.items())}
        row = {"steps": self.num_timesteps, "seconds": round(self.seconds, 2), "rate": round(rate, 1)}
        row |= {name: round(share, 4) for name, share in shares.items()}
        self.rows.append(row)
        self.learner.imitating = self.imitating
        finished = self.fraction >= 1.0
        if self.on_progress:
            self.on_progress(Progress(self.fraction, self.num_timesteps, self.seconds, rate, shares, self.stopping))
        if finished:
            self.model.num_timesteps = self.model._total_timesteps  # the update on this rollout is the last

    def _on_training_end(self) -> None:
        self.model.num_timesteps = self.num_timesteps

    def _take_snapshot(self, due: int) -> None:
        name = f"{self.num_timesteps:010d}.pt"
        replace_file(self.run.folder / "snapshots" / name, lambda path: torch.save(self.latest.weights(), path))
        self.past.append(self.latest.frozen(SNAPSHOT))
        self.run.state["snapshots"].append(name)
        self.run.state["taken"] = due
        while len(self.past) > self.run.config.snapshots:
            drop = _crowded([int(Path(name).stem) for name in self.run.state["snapshots"]])
            del self.past[drop], self.run.state["snapshots"][drop]

    def _mix_pool(self) -> None:
        weights = dict(self.run.config.pool)
        baselines = {name: weight for name, weight in weights.items() if name in BUILT_IN and weight > 0}
        if self.imitating and baselines:
            weights = baselines
        if not self.past:
            weights[LATEST] = weights.get(LATEST, 0.0) + weights.pop(SNAPSHOT, 0.0)
        members: list[tuple[Opponent, float]] = []
        for name, weight in weights.items():
            if name == LATEST:
                members.append((self.latest, weight))
            elif name == SNAPSHOT:
                # few at a time: each is a forward pass of its own, and small batches are slow
                met = self.past if len(self.past) <= MET else self.rng.sample(self.past, MET)
                members += [(policy, weight / len(met)) for policy in met]
            else:
                members.append((name, weight * self._interest(name)))
        self.pool.replace(members)

    def _interest(self, name: str) -> float:
        """What there is to learn from a baseline: little where its games are won for certain."""
        results = self.results.get(name, ())  # not to make an entry: of no games there is no mean
        if len(results) < ENOUGH:
            return 1.0
        share = float(np.mean(results))
        return 1.0 if share < 0.5 else max(LEAST_INTEREST, 4 * share * (1 - share))

    def save(self) -> None:
        """Write checkpoint, state, table and curve."""
        run = self.run
        snapshots = run.folder / "snapshots"
        snapshots.mkdir(exist_ok=True)
        replace_file(run.folder / "progress.csv", self._write_rows)
        # the weights are those of the last finished update
        replace_file(run.folder / "checkpoint.zip", lambda path: self.model.save(path, exclude=["lr_schedule"]))
        run.state.update(steps=int(self.model.num_timesteps), seconds=round(self.seconds, 2))
        _write_json(run.folder / "state.json", run.state)
        for path in snapshots.glob("*.pt"):
            if path.name not in run.state["snapshots"]:  # only now does no file name them any more
                path.unlink(missing_ok=True)
        replace_file(run.folder / "curve.png", lambda path: plot_curve(self.rows, path, self.run.config.game))
        self.saved = time.monotonic()

    def _write_rows(self, path: Path) -> None:
        names = sorted({name for row in self.rows for name in row} - {"steps", "seconds", "rate"})
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, ["steps", "seconds", "rate", *names])
            writer.writeheader()
            writer.writerows(self.rows)


def _typical(env: SelfPlayVecEnv) -> tuple[np.ndarray, float]:
    """Observations (n, size) of games against the baseline, and how many decisions the learner has in a game.

    In half of the games, whose lengths count, the learner plays as the baseline does, in the others at random.
    """
    env.pool.replace([("greedy", 1.0)])
    env.reset()
    rng = np.random.default_rng(0)
    half = (env.num_envs + 1) // 2
    lengths = np.zeros(half)
    looked_at = np.arange(LOOKED_AT) * env.num_envs // LOOKED_AT
    seen: list[np.ndarray] = []
    while not lengths.all() and len(seen) < TYPICAL:
        actions = random_actions(env.action_masks(), rng.random)
        actions[:half] = env.greedy_actions()[:half]
        observations, _, dones, _ = env.step(actions)
        seen.append(np.asarray(observations)[looked_at])
        lengths[dones[:half] & (lengths == 0)] = len(seen)
    return np.concatenate(seen), float(np.where(lengths == 0, TYPICAL, lengths).mean())


def _crowded(steps: list[int]) -> int:
    """Which of the ascending numbers to leave out so that the others spread evenly; first and last stay if they can."""
    gaps = [later - earlier for earlier, later in zip(steps, steps[2:], strict=False)]
    return 1 + gaps.index(min(gaps)) if gaps else 0


def plot_curve(rows: list[dict[str, Any]], path: Path, title: str) -> None:
    """Win shares against each opponent over the learner's decisions, as a PNG."""
    figure = Figure(figsize=(8, 4.5), dpi=120, layout="constrained")
    axes = figure.add_subplot()
    names = sorted({name for row in rows for name in row} - {"steps", "seconds", "rate"})
    for name in names:
        points = [(int(row["steps"]), float(row[name])) for row in rows if row.get(name) not in (None, "")]
        axes.plot(*zip(*points, strict=True), label=name)
    axes.set(xlabel="decisions of the learner", ylabel="win share in training", ylim=(0, 1), title=title)
    axes.grid(alpha=0.3)
    if names:
        axes.legend()
    figure.savefig(path, format="png")


def is_run(folder: Path) -> bool:
    """Whether a folder holds a run, or claims to."""
    return (Path(folder) / CONFIG).exists()


def _is_free(folder: Path) -> bool:
    # a run that was killed while it wrote its very first file leaves that draft
    return not folder.exists() or (folder.is_dir() and set(folder.iterdir()) <= {draft_of(folder / CONFIG)})


def load_config(folder: Path) -> RunConfig:
    """The configuration of a run folder; raises CorruptDataError when there is none that can be read."""
    path = Path(folder) / CONFIG
    facts = _read_json(path)
    if facts.pop("format", None) != FORMAT:
        raise CorruptDataError(f"{path} was written by another program or version: start a new run in another folder")
    names = {f.name for f in fields(RunConfig)}
    if not {"game", "num_players"} <= set(facts) <= names:
        raise CorruptDataError(f"{path} does not describe a run: restore it from a copy, or start a new run")
    try:
        return RunConfig(**facts)
    except OptionError as error:
        raise CorruptDataError(f"{path} is damaged ({error}): restore it from a copy, or start a new run") from error


def _demand_same(folder: Path, stored: RunConfig, wanted: RunConfig) -> None:
    game = registry.load(stored.game)
    same_game = registry.spec(wanted.game) == game.spec and wanted.num_players == stored.num_players
    if same_game and wanted.settings(game) == stored.settings(game):
        wanted = replace(wanted, game=stored.game, options=stored.options)
    for name, value in asdict(stored).items():
        if name != "minutes" and getattr(wanted, name) != value:
            raise OptionError(
                f"{folder} is a run with {name}={value!r}, not {getattr(wanted, name)!r}: "
                f"name another folder, or go on with {name} as it is"
            )


def _load_state(path: Path) -> dict[str, Any]:
    facts = _read_json(path)
    names = facts.get("snapshots")
    counted = all(_is_whole(facts.get(name), 0, _LARGE**2) for name in ("steps", "taken"))
    named = isinstance(names, list) and all(isinstance(name, str) for name in names)
    if facts.get("format") != FORMAT or not (counted and named and _is_number(facts.get("seconds"))):
        raise CorruptDataError(f"{path} does not tell where a run stands: restore it from a copy, or start a new run")
    return facts


def load_model(path: Path, env: SelfPlayVecEnv | None = None, seed: int | None = None) -> Learner:
    """The model of a checkpoint; raises CorruptDataError when it cannot be read.

    seed: of the environment and of the global generators, which are left alone without one.
    """
    try:
        return Learner.load(path, env=env, device="cpu", custom_objects={"lr_schedule": FloatSchedule(0.0)}, seed=seed)
    except Exception as error:
        raise CorruptDataError(
            f"the checkpoint {path} cannot be read ({error!r}): restore it from a copy, or start a new run"
        ) from error


def load_policy(folder: Path, deterministic: bool = True, seed: int | None = None) -> TorchPolicy:
    """The policy of a run folder's checkpoint; deterministic, seed: see `TorchPolicy`.

    Raises CorruptDataError when it cannot be read.
    """
    config = load_config(folder)
    path = Path(folder) / "checkpoint.zip"
    if not path.exists():
        raise CorruptDataError(f"{folder} has no checkpoint yet: train longer than a minute, or resume it")
    model = load_model(path)
    name = Path(folder).resolve().name
    return TorchPolicy(model.policy, name, append_mask=config.append_mask, deterministic=deterministic, seed=seed)


def _read_progress(path: Path, steps: int) -> list[dict[str, Any]]:
    # rows behind the last checkpoint belong to steps that were lost
    if not path.exists():
        return []
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return [row for row in csv.DictReader(file) if int(row["steps"]) <= steps]
    except (OSError, KeyError, TypeError, ValueError, csv.Error) as error:
        raise CorruptDataError(f"{path} cannot be read ({error!r}): remove it to go on without it") from error


def _write_json(path: Path, facts: dict[str, Any]) -> None:
    replace_file(path, lambda draft: draft.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8"))


def _read_json(path: Path) -> dict[str, Any]:
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CorruptDataError(
            f"{path} cannot be read ({error}): restore it from a copy, or start a new run"
        ) from error
    if not isinstance(facts, dict):
        raise CorruptDataError(f"{path} is no description of a run: restore it from a copy, or start a new run")
    return facts
