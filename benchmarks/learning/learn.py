"""Learning curves: trains agents by the shared defaults, measures them against the baselines, writes table and plots.

    python benchmarks/learning/learn.py train urbino --players 2 --seeds 3 --minutes 60
    python benchmarks/learning/learn.py report

`train` trains one run a seed under `runs/learning`, goes on where it was stopped, and then plays every kept snapshot
against the baselines. `report` gathers what is there into `results.json`, one SVG a game and number of players, and
the tables of README.md; results of other machines or days stay until they are measured anew. Needs the extra `train`.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import click
import matplotlib
import numpy as np
import torch
from matplotlib.figure import Figure
from rich.console import Console

from tabletop_envs import registry
from tabletop_envs.agents.base import BUILT_IN
from tabletop_envs.agents.sb3 import TorchPolicy
from tabletop_envs.files import replace_file
from tabletop_envs.training.evaluation import evaluate
from tabletop_envs.training.run import Progress, RunConfig, TrainingRun, load_policy

HERE: Final = Path(__file__).parent
RUNS: Final = Path("runs") / "learning"
CURVE: Final = "learning.json"
COLOURS: Final = {"random": "tab:blue", "greedy": "tab:orange"}
BEGIN, END = "<!-- results -->", "<!-- /results -->"
TOLD_EVERY: Final = 60.0  # seconds between lines of progress

console = Console()


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Learning curves of the shared default settings."""


# --- training ---------------------------------------------------------------------------------------------------


@main.command()
@click.argument("games", nargs=-1, required=True)
@click.option("--players", "-p", type=int, default=2, show_default=True)
@click.option("--seeds", type=click.IntRange(min=1), default=3, show_default=True, help="How many runs: seeds 0, 1, …")
@click.option("--first-seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--minutes", type=float, default=60.0, show_default=True, help="Training time of a run.")
@click.option("--games-each", type=click.IntRange(min=1), default=400, show_default=True, help="Of each measurement.")
@click.option("--threads", type=click.IntRange(min=1), default=1, show_default=True, help="Of torch.")
@click.option("--folder", type=click.Path(path_type=Path), default=RUNS, show_default=True)
def train(
    games: tuple[str, ...],
    players: int,
    seeds: int,
    first_seed: int,
    minutes: float,
    games_each: int,
    threads: int,
    folder: Path,
) -> None:
    """Train GAMES, one run a seed, and measure every kept snapshot; a run that had less time goes on."""
    torch.set_num_threads(threads)
    for game in games:
        for seed in range(first_seed, first_seed + seeds):
            name = f"{game}-{players}p-seed{seed}"
            run = TrainingRun(folder / name, RunConfig(game, players, minutes=minutes, seed=seed))
            if minutes > run.config.minutes:
                run.extend(minutes)
            console.print(f"{name}: {run.state['seconds'] / 60:.1f} of {minutes:g} minutes trained")
            if not _train(run, name):
                console.print("stopped; the same command goes on")
                raise SystemExit(130)
            _measure(run, games_each, threads)


def _train(run: TrainingRun, name: str) -> bool:
    told, spent = time.monotonic(), time.process_time()

    def tell(progress: Progress) -> None:
        nonlocal told
        if time.monotonic() - told > TOLD_EVERY:
            told = time.monotonic()
            shares = ", ".join(f"{opponent} {share:.0%}" for opponent, share in progress.shares.items())
            console.print(f"{name}: {progress.fraction:.0%}, {progress.steps:,} decisions, wins against {shares}")

    finished = run.train(tell)
    facts = _read(run.folder / CURVE)
    facts["cpu_seconds"] = round(facts.get("cpu_seconds", 0.0) + time.process_time() - spent, 1)
    _write(run.folder / CURVE, facts)
    return finished


def _measure(run: TrainingRun, games: int, threads: int) -> None:
    """Play the policy of each snapshot, and the last one, against the baselines, unless that was done."""
    facts = _read(run.folder / CURVE)
    if facts.get("steps") == run.state["steps"] and facts.get("games") == games:
        return
    seconds = _seconds_at(run.folder)
    policy = load_policy(run.folder)
    points = []
    for name in run.state["snapshots"]:
        weights = torch.load(run.folder / "snapshots" / name, weights_only=True)
        steps = int(Path(name).stem)
        points.append({"steps": steps, "seconds": seconds(steps), **_shares(run, policy, weights, games)})
    last = {"steps": run.state["steps"], "seconds": run.state["seconds"]}
    points.append({**last, **_shares(run, policy, load_policy(run.folder).weights(), games)})
    facts |= {"steps": run.state["steps"], "seconds": run.state["seconds"], "games": games, "threads": threads}
    _write(run.folder / CURVE, {**facts, "points": points})


def _shares(run: TrainingRun, policy: TorchPolicy, weights: dict[str, Any], games: int) -> dict[str, Any]:
    policy.policy.load_state_dict(weights)
    results = (evaluate(run.game, run.settings, policy, opponent, games, run.config.seed) for opponent in BUILT_IN)
    return {r.opponent: {name: round(getattr(r, name), 4) for name in _KEPT} for r in results}


_KEPT: Final = ("win_share", "low", "high", "mean_place", "mean_margin")


def _seconds_at(folder: Path) -> Any:
    """When a run had made so many decisions, by its table of progress."""
    table = np.genfromtxt(folder / "progress.csv", delimiter=",", names=True, usecols=("steps", "seconds"))
    return lambda steps: round(float(np.interp(steps, np.r_[0, table["steps"]], np.r_[0, table["seconds"]])), 1)


def _read(path: Path) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return facts


def _write(path: Path, facts: dict[str, Any]) -> None:
    replace_file(path, lambda draft: draft.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8"))


# --- the report -------------------------------------------------------------------------------------------------


@dataclass
class Result:
    """The runs of one game and number of players, in order of their seeds, as `results.json` has them."""

    game: str
    players: int
    minutes: float
    runs: list[dict[str, Any]] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{self.game}-{self.players}p"

    def final(self, opponent: str) -> tuple[float, float, float]:
        """Mean win share of the trained agents, with the mean of the bounds of their 95 % intervals.

        The runs differ by more than chance in their games does; the table shows each of them too.
        """
        ends = [run["points"][-1][opponent] for run in self.runs]
        return tuple(float(np.mean([end[name] for end in ends])) for name in ("win_share", "low", "high"))  # type: ignore[return-value]


@main.command()
@click.option("--folder", type=click.Path(path_type=Path), default=RUNS, show_default=True)
@click.option("--output", type=click.Path(path_type=Path), default=HERE, show_default=True)
def report(folder: Path, output: Path) -> None:
    """Write results.json, the plots and README's tables from the runs in the folder."""
    known: dict[str, Any] = _read(output / "results.json")
    for path in sorted(folder.glob(f"*/{CURVE}")):
        facts, config = _read(path), _read(path.parent / "config.json")
        if "points" not in facts:
            continue
        name = f"{config['game']}-{config['num_players']}p"
        entry = known.setdefault(name, {"game": config["game"], "players": config["num_players"], "runs": []})
        if entry.get("minutes", config["minutes"]) != config["minutes"]:
            entry["runs"] = []  # of another budget
        entry["minutes"] = config["minutes"]
        others = [run for run in entry["runs"] if run["seed"] != config["seed"]]
        entry["runs"] = sorted([*others, {"seed": config["seed"], **facts}], key=lambda run: run["seed"])
    _write(output / "results.json", dict(sorted(known.items())))
    results = [Result(**entry) for entry in sorted(known.values(), key=lambda e: (e["players"] > 2, e["game"]))]
    for result in results:
        replace_file(output / f"{result.name}.svg", partial(_plot, result))
    _write_tables(output / "README.md", results)


def _plot(result: Result, path: Path) -> None:
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    for axis, unit, scale in zip(axes, ("steps", "seconds"), (1e6, 60.0), strict=True):
        for run in result.runs:
            at = [point[unit] / scale for point in run["points"]]
            for opponent, colour in COLOURS.items():
                shares = [point[opponent] for point in run["points"]]
                axis.plot(at, [s["win_share"] for s in shares], color=colour, lw=1.2)
                axis.fill_between(at, [s["low"] for s in shares], [s["high"] for s in shares], color=colour, alpha=0.12)
        axis.axhline(1 / result.players, color="grey", lw=0.8, ls=":")
        axis.set(ylim=(0, 1.02), xlim=(0, None))
        axis.grid(alpha=0.25)
    axes[0].set(xlabel="million decisions of the learner", ylabel="win share")
    axes[1].set(xlabel="minutes of training")
    title = registry.spec(result.game).title
    seeds = f"{len(result.runs)} seed" + "s" * (len(result.runs) > 1)
    figure.suptitle(f"{title}, {result.players} players, {seeds}; bands: 95 % intervals; dotted: an equal share")
    for opponent, colour in COLOURS.items():
        axes[0].plot([], [], color=colour, label=f"against {opponent}")
    figure.legend(loc="outside lower center", ncols=len(COLOURS), fontsize="small")
    with matplotlib.rc_context({"svg.hashsalt": result.name}):  # the same bytes from the same results
        figure.savefig(path, format="svg", metadata={"Date": None})


def _write_tables(path: Path, results: list[Result]) -> None:
    text = path.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    tail = rest.partition(END)[2]
    lines = [
        "| game | players | minutes | seeds | million decisions | against random | against greedy | each seed |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for result in results:
        steps = np.mean([run["steps"] for run in result.runs]) / 1e6
        each = "; ".join(", ".join(f"{run['points'][-1][o]['win_share']:.1%}" for o in COLOURS) for run in result.runs)
        shares = [_share(*result.final(opponent)) for opponent in COLOURS]
        cells = [registry.spec(result.game).title, result.players, f"{result.minutes:g}", len(result.runs)]
        lines.append("| " + " | ".join(map(str, [*cells, f"{steps:.1f}", *shares, each])) + " |")
    lines += ["", *(f"![{result.name}]({result.name}.svg)" for result in results)]
    replace_file(path, lambda draft: draft.write_text("\n".join([head + BEGIN, *lines, END + tail]), encoding="utf-8"))


def _share(mean: float, low: float, high: float) -> str:
    return f"{mean:.1%} ({low:.1%} to {high:.1%})"


if __name__ == "__main__":
    main()
