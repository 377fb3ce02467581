"""The command line of the arena: `tabletop-envs arena ...`. Thin: every command calls the package."""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import click
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.table import Table

from tabletop_envs.command_options import game_options, parse_options
from tabletop_envs.errors import MissingExtraError, OptionError

BOARD: Final = Path("benchmarks/leaderboard")

console = Console()

_INTERRUPTED: Final = 130  # what shells report for a command that Ctrl-C ended
_SHOWN: Final = 20  # findings of a file that are told one by one
_SITE_PACKAGES: Final = ("jinja2", "markupsafe", "markdown_it")  # of the extra `arena`
_FOLDER: Final = click.Path(path_type=Path, exists=True, file_okay=False)


@click.group()
def arena() -> None:
    """Seasons of games between agents: schedules, play, ratings, the leaderboard."""


@arena.command("schedule")
@click.argument("game")
@game_options
@click.option("--season", required=True, help="The season's name, from which all seeds follow, such as 2026-1.")
@click.option("--board", type=_FOLDER, default=BOARD, show_default=True, help="Folder of the leaderboard.")
@click.option(
    "--anchor", "anchors", multiple=True, help="May be repeated [default: those of the board that play GAME]."
)
@click.option("--tables", type=click.IntRange(min=1), default=100, show_default=True, help="Of each line-up.")
@click.option("--fewer", multiple=True, metavar="AGENT=TABLES", help="Fewer tables where AGENT plays; may be repeated.")
@click.option("--extend", is_flag=True, help="Add what a schedule lacks that is there already.")
def make_schedule(
    game: str,
    players: int | None,
    assignments: tuple[str, ...],
    season: str,
    board: Path,
    anchors: tuple[str, ...],
    tables: int,
    fewer: tuple[str, ...],
    extend: bool,
) -> None:
    """Write the schedule of a season of GAME into its place on the board, before anything is played."""
    from tabletop_envs import registry
    from tabletop_envs.arena import schedule as schedules
    from tabletop_envs.files import write_whole

    loaded = registry.load(game)
    settings = loaded.settings(players, **parse_options(assignments))
    limits = {name: _number(name, value) for name, value in parse_options(fewer).items()}
    names = anchors or schedules.anchors_for(board, loaded, settings.num_players)
    made = schedules.new(loaded, settings, season, names, tables, limits)
    folder = schedules.season_folder(board, made)
    path = folder / schedules.FILE
    if path.exists():
        known = schedules.Schedule.read(path)
        if not extend:
            raise OptionError(f"{path} is there already: give --extend to add to it, or another --season")
        made = known.extended_by(made)
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(path, made.text())
    games = {who: sum(lineup.tables for lineup in part.lineups) * made.num_players for who, part in made.parts()}
    counts = " and ".join(f"{number:,} of {who}" for who, number in games.items())
    click.echo(f"{path}: {counts} games")


def _number(name: str, value: Any) -> int:
    if type(value) is not int or value < 1:
        raise OptionError(f"--fewer {name}={value} is not possible: give a number of tables")
    return value


@arena.command("play")
@click.argument("season", type=_FOLDER)
@click.option("--candidate", help="Play the games of this agent [default: those of the anchors].")
@click.option("--agents", type=_FOLDER, help="Folder of the agents' folders [default: that of the board].")
@click.option("--processes", type=click.IntRange(min=1), help="How many play [default: one a core].")
@click.option("--tables", type=click.IntRange(min=1), help="At most so many of each line-up, the first ones.")
@click.option(
    "--limit",
    type=click.FloatRange(min=0, min_open=True),
    default=600.0,
    show_default=True,
    help="Seconds that one answer of an agent may take.",
)
@click.option("--timed", is_flag=True, help="Record the seconds that each seat took.")
def play_season(
    season: Path,
    candidate: str | None,
    agents: Path | None,
    processes: int | None,
    tables: int | None,
    limit: float,
    timed: bool,
) -> None:
    """Play the games of SEASON, a folder with a schedule.json; goes on where it stopped.

    Ctrl-C stops in good order: the same command goes on.
    """
    from tabletop_envs.arena import play
    from tabletop_envs.play import interrupted_by_signals

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with interrupted_by_signals(), Bar(*columns, console=console) as bar:
        task = bar.add_task(candidate or "anchors", total=None, note="compiling")

        def show(progress: play.Progress) -> None:
            bar.update(task, completed=progress.done, total=progress.games, note=_failures(progress.failures))
            if progress.news:
                bar.console.print(escape(progress.news), highlight=False)

        result = play.play(
            season,
            candidate,
            agents=agents,
            processes=processes,
            limit=limit,
            tables=tables,
            timed=timed,
            on_progress=show,
        )
        progress = result.progress
        show(progress)
    if not result.finished:
        click.echo(f"stopped after {progress.done:,} of {progress.games:,} games; the same command goes on")
        sys.exit(_INTERRUPTED)
    told = _failures(progress.failures)
    click.echo(f"{progress.games:,} games in {result.path}, {progress.played:,} of them new{told and '; '}{told}")


def _failures(counts: Any) -> str:
    return ", ".join(f"{count:,} {kind}" for kind, count in counts.items())


@arena.command("rate")
@click.argument("folder", type=_FOLDER, default=BOARD)
def rate_seasons(folder: Path) -> None:
    """Rate the games of FOLDER anew: a season, or a board [default: the leaderboard], with its README."""
    from tabletop_envs.arena import board
    from tabletop_envs.arena.readme import write_readme
    from tabletop_envs.arena.schedule import FILE

    if (folder / FILE).is_file():
        click.echo(board.write_ratings(folder))
        return
    seasons = [season for season in board.season_folders(folder) if board.games_files(season)]
    if not seasons:
        raise OptionError(f"{folder} is no season, and no board with games: make them with `arena schedule` and `play`")
    for season in seasons:
        click.echo(board.write_ratings(season))
    click.echo(write_readme(folder))


@arena.command("check")
@click.argument("folder", type=_FOLDER)
@click.option(
    "--base", type=_FOLDER, help="A board that is trusted: its schedules and agents count [default: the same]."
)
@click.option(
    "--asked",
    type=click.IntRange(min=0),
    default=200,
    show_default=True,
    help="Decisions that each agent is asked again.",
)
@click.option("--salt", default="", help="What the drawing of these decisions depends on besides the games.")
@click.option("--inside", default="", help="A command in which agents run, with {folder} for theirs: a container.")
@click.option(
    "--patience",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    show_default=True,
    help="Seconds that an agent has for an answer.",
)
def check_board(folder: Path, base: Path | None, asked: int, salt: str, inside: str, patience: float) -> None:
    """Check FOLDER as a pull request is checked: an agent's with its games, a season's, or a whole board.

    Every game is played again, and agents are asked again. Names what does not hold, exit status 1 if anything does
    not.
    """
    from tabletop_envs.arena import check as checks

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("compiling", total=None)

        def show(what: str, done: int, of: int) -> None:
            bar.update(task, description=what, completed=done, total=of)

        report = checks.check(folder, base, checks.How(asked, salt, inside, patience), show)
    for note in report.notes:
        click.echo(f"note: {note}")
    for path, findings in groupby(report.findings, key=lambda finding: finding.path):
        listed = list(findings)
        for finding in listed[:_SHOWN]:
            click.echo(str(finding))
        if len(listed) > _SHOWN:
            click.echo(f"{path}: {len(listed) - _SHOWN:,} more")
    if report.findings:
        click.echo(f"{len(report.findings):,} finding" + "s" * (len(report.findings) > 1))
        sys.exit(1)
    table = Table()
    for heading in ("games of", "games", "decisions", "forfeits", "asked again"):
        table.add_column(heading)
    for row in report.rows:
        asked_again = ", ".join(f"{name} {'-' if count is None else count}" for name, count in row.asked.items())
        cells = (f"{count:,}" for count in (row.games, row.decisions, row.forfeits))
        table.add_row(escape("/".join(row.path.parts[-4:])), *cells, escape(asked_again))
    console.print(table)
    click.echo("all of it holds")


@arena.command()
@click.argument("board", default=BOARD, type=_FOLDER)
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("site"),
    show_default=True,
    help="Folder of the site: new, empty, or that of a site before.",
)
@click.option(
    "--games", type=click.IntRange(min=0), default=2, show_default=True, help="Games of each line-up with a page."
)
def build(board: Path, output: Path, games: int) -> None:
    """Make the README of BOARD anew, and its site: static pages that open from a folder or any web server."""
    site = _site_package()
    from tabletop_envs.arena.readme import write_readme

    pages = site.Site(board, games)
    click.echo(write_readme(board))
    with Bar(TextColumn("pages"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=console) as bar:
        task = bar.add_task("pages", total=None)
        written = site.build(pages, output, lambda done, all_: bar.update(task, completed=done, total=all_))
    click.echo(f"{written:,} pages; open {output / site.INDEX}")


@arena.command()
@click.argument("board", default=BOARD, type=_FOLDER)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="Of this machine; 0 for any."
)
def serve(board: Path, port: int) -> None:
    """Show the site of BOARD on this machine alone, as its files stand, with a page of every recorded game.

    Ctrl-C ends it.
    """
    _site_package()
    from tabletop_envs.arena.site.server import Server

    with Server(board, port) as server:
        click.echo(f"{server.address} (Ctrl-C ends it)")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            click.echo("ended")


def _site_package() -> ModuleType:
    """The package that makes the site, or an error that names the extra to install."""
    try:
        from tabletop_envs.arena import site
    except ImportError as error:
        missing = (error.name or "").partition(".")[0]
        if missing in _SITE_PACKAGES:
            raise MissingExtraError(f"the site needs {missing}: pip install 'tabletop-envs[arena]'") from error
        raise
    return site
