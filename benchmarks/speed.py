"""How fast the games are on one core, next to games of other libraries in the same run: JSON and tables.

    python benchmarks/speed.py [GAME ...] [--players N] [--seconds S] [--out FILE.json] [--markdown FILE.md]

`tabletop_envs.bench` measures one game in this process, `peers.py` games of other libraries, `ppo.py` a training;
this file adds what needs fresh processes (start, memory) and writes it all down. README.md says what it means.
"""

from __future__ import annotations

import os

# The libraries read these when they are imported; child processes inherit them.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"
os.environ["NUMBA_NUM_THREADS"] = "1"

import json
import platform
import shlex
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from functools import partial
from importlib import metadata
from math import floor, log10
from pathlib import Path
from typing import Any, NamedTuple

import click
from peers import Peer, peers
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from tabletop_envs import registry
from tabletop_envs.bench import PARTS, REPEATS, Figure, Part
from tabletop_envs.core import jit
from tabletop_envs.core.game import Game
from tabletop_envs.core.spec import Settings
from tabletop_envs.errors import OptionError, TabletopError

HERE = Path(__file__).resolve().parent
PACKAGES = (
    *("tabletop-envs", "numpy", "numba", "llvmlite", "gymnasium", "pettingzoo"),
    *("torch", "stable-baselines3", "sb3-contrib", "open_spiel", "chess"),
)
FORMAT = 1
WARM_STARTS = 3
RESIDENT_GAMES = 1024
MEGABYTE = 1e6
BUSY = 0.5  # a load average above this before the run means that others were using the machine
DIGITS = 3  # significant ones in tables


@dataclass
class Measured:
    """The figures of a game with a number of players, or of a peer; skipped: what was left out -> why."""

    name: str
    num_players: int | None = None
    figures: list[Figure] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)


class Sheet(NamedTuple):
    """A table, before it is Markdown or on the screen."""

    title: str
    heading: list[str]
    rows: list[list[str]]


class Ratio(NamedTuple):
    """Ours over a peer's, of the figures of one name in one run."""

    game: str
    num_players: int
    figure: str
    peer: str
    ours: float
    theirs: float

    @property
    def ratio(self) -> float:
        """How many times as fast ours is."""
        return self.ours / self.theirs


# --- fresh processes --------------------------------------------------------------------------------------------


def fresh(script: str, *arguments: Any, **environment: str) -> dict[str, Any]:
    """What a script beside this one prints in a process of its own."""
    command = [sys.executable, str(HERE / script), *map(str, arguments)]
    done = subprocess.run(command, env={**os.environ, **environment}, stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def start_figures(game: Game, settings: Settings, seconds: float) -> list[Figure]:
    """Start-up: once with an empty cache of compiled code, then with the cache that this has filled."""
    alone = [fresh("startup.py")["import"] for _ in range(WARM_STARTS)]
    with tempfile.TemporaryDirectory(prefix="tabletop_envs_cold_") as cache:
        starts = [
            fresh("startup.py", game.spec.env_id, settings.num_players, TABLETOP_ENVS_CACHE=cache)
            for _ in range(1 + WARM_STARTS)
        ]
    cold, *warm = [start["import"] + start["game"] for start in starts]
    beyond = "wall clock, over numpy, numba, gymnasium and pettingzoo"
    median = f"median of {WARM_STARTS} processes"
    return [
        Figure(
            "import tabletop_envs",
            *(statistics.median(alone), "s", min(alone), max(alone)),
            note=f"wall clock, over numpy alone; {median}",
        ),
        Figure("cold start, import to first step", cold, "s", note=f"{beyond}; empty cache, one process"),
        Figure(
            "warm start, import to first step",
            *(statistics.median(warm), "s", min(warm), max(warm)),
            note=f"{beyond}; {median}",
        ),
    ]


def memory_figures(game: Game, settings: Settings, seconds: float) -> list[Figure]:
    """Resident memory of a process with many games, over a bare one with the same imports."""
    found = fresh("memory.py", game.spec.env_id, settings.num_players, RESIDENT_GAMES)
    arrays = game.dtype.itemsize + game.num_actions(settings) + 4 * game.observation_size(settings)
    many = f"{RESIDENT_GAMES:,} games"
    over = "TabletopVector dealt and stepped once, over a process with the same imports"
    return [
        Figure("resident memory, bare process", found["bare"] / MEGABYTE, "MB", note="all packages imported"),
        Figure("resident memory, 1 game", (found["one"] - found["bare"]) / MEGABYTE, "MB", note=over),
        Figure(f"resident memory, {many}", (found["many"] - found["bare"]) / MEGABYTE, "MB", note=over),
        Figure(f"records, masks and observations of {many}", RESIDENT_GAMES * arrays / MEGABYTE, "MB", note="computed"),
    ]


def train_figures(game: Game, settings: Settings, seconds: float) -> list[Figure]:
    """See `ppo.py`, which is imported only when it is asked for."""
    import ppo

    return ppo.train_figures(game, settings, seconds)


ONCE: dict[str, Part] = {"start": start_figures}
"""Parts that do not depend on the number of players: measured with the first one of each game."""


# --- the run ----------------------------------------------------------------------------------------------------


def subjects(names: tuple[str, ...], num_players: int | None) -> list[tuple[Game, Settings]]:
    """The games with their numbers of players. Raises UnknownGameError and OptionError."""
    chosen = []
    for name in names or tuple(registry.games()):
        spec = registry.spec(name)
        counts = list(range(spec.min_players, spec.max_players + 1))
        if num_players is not None:
            counts = [num_players] if names or num_players in counts else []
        chosen += [(registry.load(spec.id), spec.settings(count)) for count in counts]
    if not chosen:
        raise OptionError(f"no game is for {num_players} players: give another --players")
    return chosen


def attempt(measured: Measured, name: str, work: Callable[[], list[Figure]], hint: str = "") -> None:
    """Add the figures, or the reason why there are none for want of a package."""
    try:
        measured.figures += work()
    except ImportError as error:
        measured.skipped[name] = f"{error}{hint}"


def jobs(
    chosen: list[tuple[Game, Settings]], others: list[Peer], seconds: float, train: bool
) -> Iterator[tuple[Measured, str, Callable[[], None]]]:
    """Everything to be done, in order: whose figures it adds to, what it is called, and the work itself."""
    for peer in others:
        measured = Measured(peer.name)
        work = partial(peer.measure, seconds)
        yield measured, peer.name, partial(attempt, measured, "all", work, f"; pip install {peer.install}")
    parts: dict[str, Part] = {**PARTS, "memory": memory_figures, **({"PPO": train_figures} if train else {})}
    met: set[str] = set()
    for game, settings in chosen:
        measured = Measured(game.spec.env_id, settings.num_players)
        mine = parts if game.spec.id in met else {**parts, **ONCE}
        met.add(game.spec.id)
        for name, part in mine.items():
            task = f"{measured.name}, {settings.num_players} players: {name}"
            yield measured, task, partial(attempt, measured, name, partial(part, game, settings, seconds))


def ratios(games: list[Measured], others: list[Measured]) -> list[Ratio]:
    """Every figure of ours over every peer's of the same name and unit."""
    found = []
    for game in games:
        ours = {(f.name, f.unit): f.value for f in game.figures}
        for peer in others:
            for figure in peer.figures:
                value = ours.get((figure.name, figure.unit))
                if value is not None:
                    found.append(Ratio(game.name, game.num_players or 0, figure.name, peer.name, value, figure.value))
    return found


def pin() -> int | None:
    """Keep this process and its children on one core, where the system can; returns the core."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    return core


def load_average() -> float | None:
    """Of the last minute, where the system tells."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def cpu_name() -> str:
    """The processor, as the system names it."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def commit() -> str | None:
    """The commit of this checkout, `-dirty` when files have changed."""
    command = ["git", "-C", str(HERE), "describe", "--always", "--dirty"]
    with suppress(OSError, subprocess.CalledProcessError):
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    return None


def versions() -> dict[str, str]:
    """The installed ones of the packages that matter."""
    found = {}
    for package in PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            found[package] = metadata.version(package)
    return found


# --- tables -----------------------------------------------------------------------------------------------------


def number(value: float) -> str:
    """Three significant digits, whole numbers whole."""
    if isinstance(value, int) or value == 0:
        return f"{value:,}"
    places = DIGITS - 1 - floor(log10(abs(value)))
    return f"{round(value, places):,.{max(places, 0)}f}"


def sheets(games: list[Measured], others: list[Measured], found: list[Ratio]) -> list[Sheet]:
    """For each game figures and ratios, a column for each number of players; then the peers' own figures."""
    tables = []
    for name in dict.fromkeys(game.name for game in games):
        columns = [game for game in games if game.name == name]
        heading = [f"{game.num_players} players" for game in columns]
        values = [{(f.name, f.unit): f for f in game.figures} for game in columns]
        keys = dict.fromkeys(key for column in values for key in column)
        rows = [
            [
                what,
                unit,
                *(number(column[what, unit].value) if (what, unit) in column else "" for column in values),
            ]
            for what, unit in keys
        ]
        tables.append(Sheet(name, ["figure", "unit", *heading], rows))
        shared = {(r.figure, r.peer): r.theirs for r in found if r.game == name}
        times = {(r.figure, r.peer, r.num_players): f"{number(r.ratio)} x" for r in found if r.game == name}
        rows = [
            [figure, peer, number(theirs), *(times.get((figure, peer, g.num_players or 0), "") for g in columns)]
            for (figure, peer), theirs in sorted(shared.items())
        ]
        if rows:
            tables.append(
                Sheet(f"{name}: ratio, ours / peer", ["figure", "peer", "peer's decisions/s", *heading], rows)
            )
    rows = [[peer.name, f.name, f.unit, number(f.value), f.note] for peer in others for f in peer.figures]
    if rows:
        tables.append(Sheet("peers", ["peer", "figure", "unit", "value", "how"], rows))
    return tables


def remarks(facts: dict[str, Any], measured: list[Measured]) -> list[str]:
    """What a reader of the tables has to know: machine, versions, noise, what was left out and why."""
    machine = facts["machine"]
    core = "not pinned" if machine["core"] is None else f"pinned to core {machine['core']}"
    lines = [
        f"{machine['cpu']}, {machine['cores']} cores, one thread, {core}; {machine['system']}, "
        f"Python {machine['python']}; {facts['when']}, commit {facts['commit']}",
        ", ".join(f"{name} {version}" for name, version in facts["packages"].items()),
        f"random legal play; rates by CPU time, each the median of {facts['repeats']} repeats "
        f"that take {facts['seconds']:g} s together",
    ]
    spreads = [
        (max(f.high / f.value, f.value / f.low) - 1, m.name, f.name)
        for m in measured
        for f in m.figures
        if f.low and f.high
    ]
    if spreads:
        worst, name, what = max(spreads)
        lines.append(f"the farthest repeat lies {worst:.0%} off its median ({name}: {what})")
    if (facts["load"]["before"] or 0) > BUSY:
        lines.append(
            f"the machine was BUSY (load {facts['load']['before']:g} before, {facts['load']['after']:g} after): "
            "do not quote these numbers"
        )
    if machine["jit"] != "on":
        lines.append(f"TABLETOP_ENVS_JIT={machine['jit']}: this is not the speed of compiled games")
    lines += [f"{m.name}: {part} left out: {why}" for m in measured for part, why in m.skipped.items()]
    return lines


def markdown(command: str, lines: list[str], tables: list[Sheet]) -> str:
    """The file that `--markdown` writes."""
    text = ["# Speed: results", "", f"Written by `{command}`; README.md says what the figures mean.", ""]
    text += [f"- {line}" for line in lines]
    for table in tables:
        numeric = [all(row[k][:1].isdigit() for row in table.rows if row[k]) for k in range(len(table.heading))]
        text += ["", f"## {table.title}", "", "| " + " | ".join(table.heading) + " |"]
        text.append("| " + " | ".join("---:" if right else "---" for right in numeric) + " |")
        text += ["| " + " | ".join(row) + " |" for row in table.rows]
    return "\n".join(text) + "\n"


def show(console: Console, lines: list[str], tables: list[Sheet]) -> None:
    """The same on the screen."""
    for sheet in tables:
        table = Table(title=sheet.title)
        for title in sheet.heading:
            table.add_column(title, justify="right" if title.endswith(("players", "/s", "value")) else "left")
        for row in sheet.rows:
            table.add_row(*row)
        console.print(table)
    for line in lines:
        console.print(f"- {line}", markup=False, highlight=False)


# --- the command ------------------------------------------------------------------------------------------------


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("games", nargs=-1)
@click.option("--players", "-p", type=int, help="Number of players [default: every one that a game takes].")
@click.option("--seconds", default=1.0, show_default=True, type=click.FloatRange(0.01), help="Time for each rate.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Write all figures as JSON.")
@click.option("--markdown", "page", type=click.Path(path_type=Path, dir_okay=False), help="Write the tables.")
@click.option("--no-peers", is_flag=True, help="Leave out the games of other libraries.")
@click.option("--train", is_flag=True, help="Also measure the environment's share of PPO training.")
def main(
    games: tuple[str, ...],
    players: int | None,
    seconds: float,
    out: Path | None,
    page: Path | None,
    no_peers: bool,
    train: bool,
) -> None:
    """Measure GAMES (default: all registered ones) on one core under random legal play."""
    load = {"before": load_average()}
    core = pin()
    try:
        chosen = subjects(games, players)
    except TabletopError as error:
        raise click.ClickException(str(error)) from error
    measured: dict[int, Measured] = {}
    todo = list(jobs(chosen, [] if no_peers else peers(), seconds, train))
    columns = (SpinnerColumn(), BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=len(todo))
        for whose, name, work in todo:
            bar.update(task, description=name)
            measured[id(whose)] = whose
            work()
            bar.advance(task)
    load["after"] = load_average()

    everyone = list(measured.values())
    ours = [m for m in everyone if m.num_players is not None]
    theirs = [m for m in everyone if m.num_players is None]
    found = ratios(ours, theirs)
    facts: dict[str, Any] = {
        "format": FORMAT,
        "when": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "command": shlex.join(["python", "benchmarks/speed.py", *sys.argv[1:]]),
        "commit": commit(),
        "seconds": seconds,
        "repeats": REPEATS,
        "machine": {
            "cpu": cpu_name(),
            "cores": os.cpu_count(),
            "core": core,
            "threads": 1,
            "system": platform.platform(),
            "python": platform.python_version(),
            "jit": jit.MODE,
        },
        "load": load,
        "packages": versions(),
    }
    lines, tables = remarks(facts, everyone), sheets(ours, theirs, found)
    if out is not None:
        results = {
            "games": [asdict(m) for m in ours],
            "peers": [asdict(m) for m in theirs],
            "ratios": [{**r._asdict(), "ratio": r.ratio} for r in found],
        }
        out.write_text(json.dumps({**facts, **results}, indent=2) + "\n")
    if page is not None:
        page.write_text(markdown(facts["command"], lines, tables))
    show(Console(), lines, tables)


if __name__ == "__main__":
    main()
