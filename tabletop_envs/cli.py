"""The command line: `tabletop-envs` or `python -m tabletop_envs`. Thin: every command calls the package."""

from __future__ import annotations

import contextlib
import difflib
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from tabletop_envs import __version__, registry
from tabletop_envs.arena.commands import arena
from tabletop_envs.command_options import game_options, parse_options
from tabletop_envs.errors import MissingExtraError, OptionError, TabletopError

if TYPE_CHECKING:
    from tabletop_envs.agents.base import Opponent
    from tabletop_envs.core.game import Game
    from tabletop_envs.core.spec import GameSpec, Settings
    from tabletop_envs.training.evaluation import Evaluation

console = Console()

_TRAINING: Final = ("torch", "stable_baselines3", "sb3_contrib", "matplotlib")  # the extra `train`
_INTERRUPTED: Final = 130  # what shells report for a command that Ctrl-C ended
_LEAST_SECONDS: Final = 0.01  # a figure of `bench` is a median over repeats, each of which has to do something
_SHOWN_LINES: Final = 20  # bad lines of a file of replays that are told one by one
# fields of RunConfig that `train` takes in another place
_OWN_OPTIONS: Final[Mapping[str, str]] = {
    "game": "name it as the argument",
    "num_players": "give --players",
    "options": "give --option",
    "minutes": "give --minutes",
    "seed": "give --seed",
}

_OUTPUT: Final = click.Path(path_type=Path, dir_okay=False)


class _Commands(click.Group):
    """Turns the package's own errors, and those of files, into one line and exit status 1."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except TabletopError as error:
            raise click.ClickException(str(error)) from error
        except OSError as error:
            if error.filename is None:  # no file of the user's: a broken pipe, say, which click knows
                raise
            raise click.ClickException(f"{error.filename}: {error.strerror}: name another place") from error


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="tabletop-envs")
def main() -> None:
    """Modern board games for multi-agent reinforcement learning."""


def games_option(summary: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`--games`, as every command that evaluates takes it."""
    return click.option("--games", type=click.IntRange(min=1), default=400, show_default=True, help=summary)


@main.command("list")
def list_games() -> None:
    """Show the games, their players and options."""
    table = Table(title=f"tabletop_envs {__version__}")
    for heading in ("id", "title", "players", "options (default)"):
        table.add_column(heading, no_wrap=heading == "id")
    for spec in registry.games().values():
        table.add_row(spec.env_id, escape(spec.title), _span(spec), escape(_options(spec)))
    console.print(table)


def _span(spec: GameSpec) -> str:
    return str(spec.min_players) if spec.min_players == spec.max_players else f"{spec.min_players}-{spec.max_players}"


def _options(spec: GameSpec) -> str:
    return "\n".join(f"{o.name} ({o.default}): {o.summary}" for o in spec.all_options(spec.min_players))


@main.command()
@click.argument("game")
@game_options
@click.option("--folder", type=click.Path(path_type=Path, file_okay=False), help="Run folder [default: runs/GAME-Np].")
@click.option("--minutes", type=float, help="Training time, over all parts of the run [default: 10].")
@click.option("--seed", type=int, help="Of chance and weights [default: 0].")
@games_option("Mirrored games of the evaluation at the end.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A field of RunConfig; may be repeated.")
def train(
    game: str,
    players: int | None,
    assignments: tuple[str, ...],
    folder: Path | None,
    minutes: float | None,
    seed: int | None,
    games: int,
    settings: tuple[str, ...],
) -> None:
    """Train a PPO agent on GAME by self-play; goes on where the folder's run stopped.

    Ctrl-C stops in good order: the same command resumes. At the end the agent is evaluated against the baselines.
    """
    run_module = _training()
    spec = registry.spec(game)
    chosen = spec.settings(players, **parse_options(assignments))
    folder = folder or Path("runs") / f"{spec.id}-{chosen.num_players}p"
    fields = parse_options(settings)
    _check_fields(fields, [name for name in run_module.RunConfig.__dataclass_fields__ if name not in _OWN_OPTIONS])
    fields |= {"game": spec.id, "num_players": chosen.num_players, "options": chosen.changed()}
    fields |= {name: value for name, value in (("minutes", minutes), ("seed", seed)) if value is not None}
    if run_module.is_run(folder):
        config = replace(run_module.load_config(folder), **fields)
    else:
        config = run_module.RunConfig(**fields)
    run = run_module.TrainingRun(folder, config)
    if run.resumed:
        if minutes is not None:
            run.extend(minutes)
        so_far = f"{run.state['steps']:,} decisions, {run.state['seconds'] / 60:.1f} minutes"
        console.print(f"resuming {escape(str(folder))} at {so_far}")
    finished = _train_with_bar(run)
    if not finished:
        console.print(f"stopped; everything is in {escape(str(folder))}; the same command goes on")
        sys.exit(_INTERRUPTED)
    with console.status("evaluating"):
        results = run.evaluate(games)
    print_evaluations(results)
    console.print(f"checkpoint, curve and tables: {escape(str(folder))}")


def _check_fields(given: Mapping[str, Any], known: list[str]) -> None:
    for name in given:
        if name in _OWN_OPTIONS:
            raise OptionError(f"--set takes no {name!r}: {_OWN_OPTIONS[name]}")
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise OptionError(f"RunConfig has no field {name!r}: it has {', '.join(known)}{hint}")


def _training() -> Any:
    """The training module, or an error that names the extra to install."""
    try:
        from tabletop_envs.training import run
    except ImportError as error:
        missing = (error.name or "").partition(".")[0]
        if missing in _TRAINING:
            raise MissingExtraError(f"training needs {missing}: pip install 'tabletop-envs[train]'") from error
        raise
    return run


def _train_with_bar(run: Any) -> bool:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f}%"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(run.config.game, total=1.0, note="first rollout")

        def show(progress: Any) -> None:
            shares = "  ".join(f"{name} {share:.0%}" for name, share in progress.shares.items())
            note = f"{progress.steps:,} decisions  {progress.rate:,.0f}/s  wins against: {shares}"
            bar.update(task, completed=progress.fraction, note="stopping" if progress.stopping else note)

        return bool(run.train(show))


@main.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--against", multiple=True, help="random, greedy, sb3:PATH or another agent [default: random and greedy]."
)
@games_option("Mirrored games against each.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of deals, openings and draws.")
@click.option("--sample", is_flag=True, help="Draw from the policy instead of its likeliest action.")
def evaluate(folder: Path, against: tuple[str, ...], games: int, seed: int, sample: bool) -> None:
    """Play the agent of run FOLDER in mirrored games and show win shares with 95 % intervals.

    Opponents are called random, greedy, sb3:PATH (a run folder of `train`, or a checkpoint), or as an outside package
    names them; a run folder alone will do.
    """
    run_module = _training()
    from tabletop_envs.agents.base import BUILT_IN
    from tabletop_envs.core.position import check_key
    from tabletop_envs.training.evaluation import evaluate as play

    run = run_module.TrainingRun(folder)
    policy = run.policy(not sample, check_key(seed))
    names = _without_people(against) or tuple(BUILT_IN)
    results = []
    for name in names:
        with (
            _opponent(name, run.game, run.settings) as opponent,
            console.status(f"playing {games} games against {escape(name)}"),
        ):
            results.append(play(run.game, run.settings, policy, opponent, games, seed))
    print_evaluations(results)


@main.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
def export(folder: Path, file: Path) -> None:
    """Write the policy of run FOLDER to FILE, which plays without torch: `--against ppo:FILE`."""
    run_module = _training()
    from tabletop_envs.training.export import export as write

    write(run_module.TrainingRun(folder), file)
    console.print(f"{escape(str(file))}: {file.stat().st_size / 1e6:.2f} MB; name it as ppo:{escape(str(file))}")


@contextlib.contextmanager
def _opponent(name: str, game: Game, settings: Settings) -> Iterator[Opponent]:
    """Whom a name seats: a built-in policy, else what `make_agent` makes, where it can be with answers in batches."""
    from tabletop_envs.agents import make_agent
    from tabletop_envs.agents.base import BUILT_IN, PolicyAgent, check_table, finish

    if name in BUILT_IN:
        yield name
        return
    agent = make_agent(name, game)
    try:
        check_table(agent, settings)
        yield agent.policy if isinstance(agent, PolicyAgent) else agent
    finally:
        finish(agent)


def _without_people(names: Sequence[str]) -> tuple[str, ...]:
    if "human" in names:
        raise OptionError("a person does not play so many games unwatched: name agents, or use the `play` command")
    return tuple(names)


def print_evaluations(results: list[Evaluation]) -> None:
    """A table of evaluations."""
    table = Table()
    for heading in ("policy", "against", "games", "win share", "95 % interval", "mean place", "mean margin"):
        table.add_column(heading)
    for r in results:
        span = f"{r.low:.1%} to {r.high:.1%}"
        place, margin = f"{r.mean_place:.2f}", f"{r.mean_margin:+.1f}"
        table.add_row(escape(r.policy), escape(r.opponent), str(r.games), f"{r.win_share:.1%}", span, place, margin)
    console.print(table)


@main.command()
@click.argument("replay_file", required=False, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--game-number", "number", type=click.IntRange(min=1), help="Which game of the file [default: 1].")
@click.option("--agents", help="Instead of a file: agents by seat, with commas; or one for all seats.")
@click.option("--game", help="With --agents: which game they play.")
@game_options
@click.option("--seed", type=int, help="With --agents: of the game [default: 0].")
@click.option("--viewer", default="public", show_default=True, help="For whom: public, all (nothing hidden) or a seat.")
@click.option("--html", type=_OUTPUT, help="Write a page that needs nothing but a browser.")
@click.option("--gif", type=_OUTPUT, help="Write an animated GIF.")
@click.option("--mp4", type=_OUTPUT, help="Write a video (needs the extra `video`).")
@click.option("--pixels", type=int, help="Shorter side of GIF and MP4 [default: 600].")
@click.option("--delay", type=click.FloatRange(min=0, min_open=True), help="Seconds a step [default: 0.8, or Enter].")
def watch(
    replay_file: Path | None,
    number: int | None,
    agents: str | None,
    game: str | None,
    players: int | None,
    assignments: tuple[str, ...],
    seed: int | None,
    viewer: str,
    html: Path | None,
    gif: Path | None,
    mp4: Path | None,
    pixels: int | None,
    delay: float | None,
) -> None:
    """Watch a game: one of REPLAY_FILE, or --agents playing --game.

    Without --html, --gif or --mp4 it is shown step by step in the terminal; with --delay it goes on by itself.
    """
    from tabletop_envs import watch as watching
    from tabletop_envs.render.modes import check_viewer

    if (replay_file is None) == (agents is None) or (agents is None) != (game is None):
        raise click.UsageError("give a REPLAY_FILE, or both --agents and --game")
    if replay_file is not None and (players is not None or assignments or seed is not None):
        raise click.UsageError("--players, --option and --seed go with --agents: a replay holds its own")
    if replay_file is None and number is not None:
        raise click.UsageError("--game-number goes with a REPLAY_FILE")
    if pixels is not None and gif is None and mp4 is None:
        raise click.UsageError("--pixels goes with --gif or --mp4")
    wanted: Any = int(viewer) if viewer.isdecimal() else viewer
    if replay_file is not None:
        replay = watching.load(replay_file, number or 1)
        film = watching.film_of(replay, check_viewer(wanted, replay.num_players, "viewer"))
    else:
        loaded = registry.load(str(game))
        names = [name.strip() for name in str(agents).split(",")]
        named = len(names) if len(names) > 1 else None
        chosen = loaded.settings(named if players is None else players, **parse_options(assignments))
        eyes = check_viewer(wanted, chosen.num_players, "viewer")
        names = names if named else names * chosen.num_players
        film = watching.film_of_agents(loaded, chosen, names, seed=seed or 0, viewer=eyes)
    if html is gif is mp4 is None:
        watching.step_through(film, delay=delay)
        return
    times: dict[str, Any] = {} if delay is None else {"seconds": delay}
    size = {} if pixels is None else {"pixels": pixels}
    if html is not None:
        from tabletop_envs.render.html import page

        html.write_text(page(film.frames, film.title, film.players, **times), encoding="utf-8")
        click.echo(f"{len(film.frames) - 1} decisions in {html}")
    for path, kind in ((gif, "gif"), (mp4, "mp4")):
        if path is not None:
            from tabletop_envs.render import film as films

            with console.status(f"drawing {len(film.frames)} pictures"):
                getattr(films, kind)(film.frames, path, **size, **times)
            click.echo(f"{len(film.frames) - 1} decisions in {path}")


@main.command()
@click.argument("game", required=False)
@game_options
@click.option("--against", multiple=True, help="An agent: one for all other seats, or one a seat [default: greedy].")
@click.option("--seat", "seats", multiple=True, type=int, help="A person's seat, from 0; may be repeated [default: 0].")
@click.option("--seed", type=int, help="Of all chance in the game [default: any].")
@click.option("--save", "file", type=click.Path(path_type=Path), help="Keep the game here; at its end, as a replay.")
@click.option("--resume", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="Go on with a saved game.")
def play(
    game: str | None,
    players: int | None,
    assignments: tuple[str, ...],
    against: tuple[str, ...],
    seats: tuple[int, ...],
    seed: int | None,
    file: Path | None,
    resume: Path | None,
) -> None:
    """Play GAME in the terminal, against agents or each other.

    Agents are called random, greedy, sb3:PATH (a run folder of `train`, or a checkpoint), or as an outside package
    names them; human is another person. Leaving saves the game; --resume FILE goes on with it, and needs no GAME.
    """
    from tabletop_envs import play as playing

    if resume is not None:
        if players is not None or assignments or against or seats or seed is not None:
            raise OptionError(f"{resume} says how its game is played: with --resume, give no other option than --save")
        table = playing.resumed_table(resume, game)
    elif game is None:
        raise OptionError("which game? name it (the `list` command shows them all), or give --resume FILE")
    else:
        options = parse_options(assignments)
        loaded = registry.load(game)
        table = playing.new_table(loaded, players, against=against, seats=seats, seed=seed, **options)
    if file is not None and file != resume:
        playing.check_free(file)
    with playing.interrupted_by_signals():
        try:
            playing.Session(table, file=file or resume).run()
        except KeyboardInterrupt:
            sys.exit(_INTERRUPTED)


@main.command()
@click.argument("games", nargs=-1)
def warmup(games: tuple[str, ...]) -> None:
    """Compile GAMES (default: all) into the cache, so that later starts are fast."""
    from tabletop_envs.core.warmup import warm_up

    chosen = [registry.spec(game).id for game in games] or list(registry.games())
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("compiling", total=len(chosen))
        for game in chosen:
            bar.update(task, description=f"compiling {game}")
            warm_up(registry.load(game))
            bar.advance(task)


@main.command()
@click.argument("game")
@game_options
@click.option(
    "--seconds",
    type=click.FloatRange(min=_LEAST_SECONDS),
    default=1.0,
    show_default=True,
    help="Time for each figure.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def bench(game: str, players: int | None, assignments: tuple[str, ...], seconds: float, as_json: bool) -> None:
    """Measure decisions per second of GAME under random legal play on this machine."""
    from tabletop_envs.bench import measure

    loaded = registry.load(game)
    figures = measure(loaded, loaded.settings(players, **parse_options(assignments)), seconds)
    if as_json:
        click.echo(json.dumps(figures, indent=2))
        return
    table = Table(title=f"{loaded.spec.env_id}, one core, random legal play")
    table.add_column("figure")
    table.add_column("value", justify="right")
    for name, value in figures.items():
        table.add_row(name, f"{value:,.0f}" if isinstance(value, (int, float)) else str(value))
    console.print(table)


@main.command()
@click.argument("game")
@click.option("--quick", is_flag=True, help="Options and numbers of players take turns instead of meeting each other.")
@click.option("--golden", type=click.Path(path_type=Path, file_okay=False), help="Folder of golden files to compare.")
def conform(game: str, quick: bool, golden: Path | None) -> None:
    """Run the conformance suite on GAME, ours or an outside one; exit status 1 on any failure."""
    from tabletop_envs.testing import Report, conformance

    def show(report: Report) -> None:
        mark = "[green]pass[/]" if report.ok else "[red]FAIL[/]"
        console.print(f"{mark} {escape(report.name)} ({report.seconds:.1f} s)")
        if report.detail:
            console.print(f"     {report.detail}", markup=False, highlight=False)

    reports = conformance(registry.load(game), show, quick=quick, golden=golden)
    failed = sum(not report.ok for report in reports)
    console.print(f"{len(reports) - failed} checks passed, {failed} failed")
    sys.exit(1 if failed else 0)


@main.command()
@click.argument("game")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
def cases(game: str, file: Path) -> None:
    """Run the worked cases of FILE (the format of the game's cases.json); exit status 1 on any failure."""
    from tabletop_envs.casebook import run_file

    results = run_file(registry.load(game), file)
    colours = {"pass": "green", "fail": "red", "manual": "yellow"}
    for result in results:
        console.print(f"[{colours[result.status]}]{result.status:6}[/] {escape(result.id)}", highlight=False)
        for line in result.differences:
            console.print(f"         {line}", markup=False, highlight=False)
    counts = {status: sum(r.status == status for r in results) for status in colours}
    console.print(", ".join(f"{count} {status}" for status, count in counts.items()))
    sys.exit(1 if counts["fail"] else 0)


main.add_command(arena)


# --- replays ----------------------------------------------------------------------------------------------------


@main.group()
def replay() -> None:
    """Record games, and check recorded ones by playing them again."""


@replay.command("verify")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False))
def verify_replays(files: tuple[Path, ...]) -> None:
    """Play every game of FILES again; names the first difference of each bad line, exit status 1 if there is one."""
    from tabletop_envs.arena import replay as replays

    start, games, decisions, bad = time.perf_counter(), 0, 0, 0
    for file in files:
        bad_before = bad
        for line in replays.scan(file):
            if line.header is not None:
                continue
            differences = [f"{line.place}: {text}" for text in replays.verify(line.replay)] if line.replay else []
            if line.replay is not None:
                games += 1
                decisions += len(line.replay.actions)
            else:
                differences = [str(line.error)]
            if differences:
                bad += 1
                if bad - bad_before <= _SHOWN_LINES:
                    more = f" (and {len(differences) - 1} more)" if len(differences) > 1 else ""
                    click.echo(differences[0] + more)
        if bad - bad_before > _SHOWN_LINES:
            click.echo(f"{file}: {bad - bad_before - _SHOWN_LINES} more bad lines")
    seconds = time.perf_counter() - start
    click.echo(f"{games:,} games, {decisions:,} decisions in {seconds:.1f} s; {bad:,} bad lines")
    sys.exit(1 if bad else 0)


@replay.command("record")
@click.argument("game")
@game_options
@click.option("--agents", default="random", show_default=True, help="By seat, with commas; or one for all seats.")
@click.option("--games", type=click.IntRange(min=1), default=100, show_default=True, help="How many.")
@click.option("--seed", type=int, default=0, show_default=True, help="From which the keys of the games are derived.")
@click.option(
    "--output",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file to write; to one that exists, games are added.",
)
def record_replays(
    game: str,
    players: int | None,
    assignments: tuple[str, ...],
    agents: str,
    games: int,
    seed: int,
    output: Path,
) -> None:
    """Let agents play GAME, and record the games.

    Agents are called random, greedy, sb3:PATH (a run folder of `train`, or a checkpoint), or as an outside package
    names them; random and greedy play compiled, thousands of games a second.
    """
    from tabletop_envs.arena import replay as replays

    names = [name.strip() for name in agents.split(",")]
    named = len(names) if len(names) > 1 else None
    loaded = registry.load(game)
    chosen = loaded.settings(named if players is None else players, **parse_options(assignments))
    by_seat = _without_people(names if named else names * chosen.num_players)
    with console.status(f"playing {games:,} games"):
        written = replays.append(output, replays.sample(loaded, chosen, by_seat, games, seed))
    click.echo(f"{written:,} games in {output}")


if __name__ == "__main__":
    main()
