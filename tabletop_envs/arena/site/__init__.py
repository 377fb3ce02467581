"""The site of a board: static pages from its files, which need no network and no server.

| page | shows |
| --- | --- |
| `index.html` | every game with every number of players: who leads; the score across games |
| `seasons/<game>_v<version>/<players>p/<season>/index.html` | ranking, pairs, seats, skill room, recorded games |
| `seasons/…/games/<file>-<number>.html` | a recorded game to step through |
| `agents/<name>.html` | an agent: facts, card, results |
| `rules.html` | the protocol, where the board has a RULES.md |

The folders are those of the board. Whatever comes from a submission is a stranger's text: templates escape it, cards
are rendered without tags of their own, and the pages' policy lets no script run but the one of this package. The same
files give the same pages to the byte.
"""

from __future__ import annotations

import base64
import hashlib
import json
import posixpath
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from tabletop_envs import __version__, watch
from tabletop_envs.arena.site import cards
from tabletop_envs.arena.site.charts import Axis
from tabletop_envs.arena.site.contents import Board, Entry, Recorded, Season
from tabletop_envs.core.game import ALL
from tabletop_envs.core.position import END_RULES
from tabletop_envs.errors import CorruptDataError, OptionError
from tabletop_envs.render import html

INDEX: Final = "index.html"
RULES: Final = "rules.html"
MANIFEST: Final = "pages.json"  # the pages of a built site, so that the next build removes what it does not renew
GAMES: Final = 2  # games of each line-up that are made a page

_FILES: Final = Path(__file__).parent / "files"
_LEADERS: Final = 3
_GAME: Final = re.compile(r"(?P<season>seasons/[^/]+/[^/]+/[^/]+)/games/(?P<file>[^/]+)-(?P<number>[0-9]+)\.html")


class Site:
    """The pages of a board by their paths.

    board: the folder; games: how many games of each line-up are listed with a page, None for all.

    Raises CorruptDataError and UnknownGameError for what the folder holds.
    """

    def __init__(self, board: Path, games: int | None = GAMES) -> None:
        self.board = Board(board)
        self._games = games
        self._seasons = {season.path: season for season in self.board.seasons}

    def paths(self) -> Iterator[str]:
        """The paths of all pages."""
        yield INDEX
        if self.board.rules:
            yield RULES
        yield from (agent_path(name) for name in self.board.agents)
        for season in self.board.seasons:
            yield season_path(season)
            yield from (game_path(season, game) for game in self._with_pages(season))

    def page(self, path: str) -> str | None:
        """The page at a path, None where there is none; of recorded games any, listed or not."""
        folder, name = posixpath.split(path)
        if path == INDEX:
            return self._index()
        if path == RULES and self.board.rules:
            return _render("rules.html", RULES, rules=cards.rendered(self.board.rules, heading=1))
        if folder == "agents" and name.removesuffix(".html") in self.board.agents and name.endswith(".html"):
            return self._agent(self.board.agents[name.removesuffix(".html")])
        if name == INDEX and folder in self._seasons:
            return self._season(self._seasons[folder])
        match = _GAME.fullmatch(path)
        if match and match["season"] in self._seasons:
            return self._game(self._seasons[match["season"]], match["file"], int(match["number"]))
        return None

    def _with_pages(self, season: Season) -> list[Recorded]:
        if season.spec is None:
            return []
        return season.games if self._games is None else season.sample(self._games)

    # --- pages

    def _index(self) -> str:
        newest = self.board.newest()
        shown = []
        for season in newest:
            leaders = season.ratings["agents"][:_LEADERS]
            shown.append({"season": season, "leaders": leaders, "axis": _rating_axis(leaders)})
        return _render(
            "index.html",
            INDEX,
            seasons=shown,
            across=self.board.across_games(),
            titles={(season.ratings["game"], season.num_players): season.title for season in newest},
            agents=list(self.board.agents.values()),
            rules=bool(self.board.rules),
        )

    def _season(self, season: Season) -> str:
        ratings = season.ratings
        rated = [row["name"] for row in ratings["agents"]]
        related = [other for other in self.board.seasons if other.ratings["game"] == ratings["game"]]
        paged = {game.name for game in self._with_pages(season)}
        seats, room = ratings["seats"], _ladder(ratings["skill_room"])
        return _render(
            "season.html",
            season_path(season),
            season=season,
            ratings=ratings,
            related=related,
            axis=_rating_axis(ratings["agents"]),
            pairs={(pair["agent"], pair["opponent"]): pair for pair in ratings["pairs"]},
            rated=rated,
            seats=seats,
            seat_axis=Axis(seat[part] for seat in seats for part in ("effect", "low", "high")),
            room=room,
            room_axis=Axis(step[part] for step in room for part in ("start", "end", "low", "high")),
            entries=[self.board.agents[name] for name in rated],
            games=season.games,
            paged=[game for game in season.games if game.name in paged],
            data=_list_data(season, paged),
            divisions=_divisions(ratings),
        )

    def _agent(self, entry: Entry) -> str:
        results = []
        for season in self.board.seasons:
            for row in season.ratings["agents"]:
                if row["name"] == entry.name:
                    results.append({"season": season, "row": row, "axis": _rating_axis(season.ratings["agents"])})
        return _render(
            "agent.html", agent_path(entry.name), entry=entry, results=results, card=cards.rendered(entry.card)
        )

    def _game(self, season: Season, file: str, number: int) -> str | None:
        found = next((game for game in season.games if (game.file, game.number) == (file, number)), None)
        if found is None or season.spec is None:
            return None
        film = watch.film_of(found.replay, ALL)
        title = f"{film.title} (table {found.place})"
        back = (posixpath.relpath(season_path(season), posixpath.dirname(game_path(season, found))), season.title)
        return html.page(film.frames, title, film.players, back=back)


def agent_path(name: str) -> str:
    """The path of an agent's page."""
    return f"agents/{name}.html"


def season_path(season: Season) -> str:
    """The path of a season's page."""
    return f"{season.path}/{INDEX}"


def game_path(season: Season, game: Recorded) -> str:
    """The path of a recorded game's page."""
    return f"{season.path}/games/{game.name}.html"


# --- building ---------------------------------------------------------------------------------------------------


def build(site: Site, folder: Path, report: Callable[[int, int], None] = lambda done, all_: None) -> int:
    """Write the pages of a site into a folder, and remove those of the build before that are no more; returns how many.

    report: is told how many pages are written, of how many.

    Raises OptionError for a folder that holds something else.
    """
    before = _manifest(folder)
    paths = list(site.paths())
    for number, path in enumerate(paths, 1):
        text = site.page(path)
        assert text is not None, "paths are those of pages"
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8", newline="\n")
        report(number, len(paths))
    for path in sorted(set(before) - set(paths)):
        (folder / path).unlink(missing_ok=True)
    content = json.dumps(sorted(paths), indent=1) + "\n"
    (folder / MANIFEST).write_text(content, encoding="utf-8", newline="\n")
    return len(paths)


def _manifest(folder: Path) -> list[str]:
    """The pages of the build before, none in a new folder."""
    path = folder / MANIFEST
    if not path.exists():
        if folder.exists() and any(folder.iterdir()):
            raise OptionError(f"{folder} holds something else than a site: name a new or empty folder")
        return []
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise CorruptDataError(f"{path} cannot be read ({error}): remove the folder") from error
    if not isinstance(listed, list) or not all(_is_inside(name) for name in listed):
        raise CorruptDataError(f"{path} is no list of pages: remove the folder")
    return list(listed)


def _is_inside(name: Any) -> bool:
    return isinstance(name, str) and name.endswith(".html") and not name.startswith("/") and ".." not in name.split("/")


# --- what templates are given -----------------------------------------------------------------------------------


def _rating_axis(agents: list[dict[str, Any]]) -> Axis:
    return Axis(agent[part] for agent in agents for part in ("rating", "low", "high"))


def _ladder(room: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The steps of the skill room, each with where it starts and ends above the ladder's foot."""
    steps, start = [], 0.0
    for step in room:
        end = start + step["points"]
        ends = {"start": start, "end": end, "low": start + step["low"], "high": start + step["high"]}
        steps.append({**step, **ends, "gain_low": step["low"], "gain_high": step["high"]})
        start = end
    return steps


def _divisions(ratings: Any) -> dict[str, dict[str, list[Any]]]:
    """Division -> agent -> rank, lowest, highest, share of first: of those that have members."""
    return {
        name: {row["name"]: [row["rank"], row["rank_low"], row["rank_high"], row["first"]] for row in rows}
        for name, rows in ratings["divisions"].items()
        if rows
    }


def _list_data(season: Season, paged: set[str]) -> dict[str, Any]:
    """The recorded games as the page's script lists them."""
    agents = sorted({name for game in season.games for name in game.replay.agents})
    files = sorted({game.file for game in season.games})
    games = [
        [
            files.index(game.file),
            game.number,
            game.place,
            [agents.index(name) for name in game.replay.agents],
            game.replay.points,
            game.replay.places,
            len(game.replay.actions),
            "" if game.replay.end == END_RULES else game.replay.end,
            int(game.name in paged),
        ]
        for game in season.games
    ]
    return {"agents": agents, "files": files, "games": games}


# --- templates --------------------------------------------------------------------------------------------------


def _number(value: float | None, digits: int = 0, sign: str = "") -> str:
    if value is None:
        return "\N{EN DASH}"
    rounded = round(value, digits) or 0.0  # no minus before a zero
    return f"{rounded:{sign if rounded else ''},.{digits}f}".replace("-", "\N{MINUS SIGN}")


def _signed(value: float | None, digits: int = 0) -> str:
    return _number(value, digits, "+")


def _percent(value: float | None) -> str:
    return "\N{EN DASH}" if value is None else f"{100 * value:.0f}%"


def _span(low: float, high: float, digits: int = 0) -> str:
    return f"{_number(low, digits)} to {_number(high, digits)}"


def _shares(low: float, high: float) -> str:
    return f"{100 * low:.0f}\N{EN DASH}{100 * high:.0f}%"


def _ranks(row: dict[str, Any]) -> str:
    low, high = row["rank_low"], row["rank_high"]
    if low is None:
        return ""
    return f"{low}" if low == high else f"{low}\N{EN DASH}{high}"


def _heat(share: float) -> int:
    """The colour of a share of wins: 0 (none) to 10 (all), 5 is even."""
    return round(10 * share)


def _json(value: Any) -> Markup:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return Markup(text.replace("<", "\\u003c"))


def _policy(text: str) -> str:
    """What a Content-Security-Policy calls this very text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@dataclass(frozen=True)
class _Templates:
    folder: Path

    @cached_property
    def environment(self) -> Environment:
        environment = Environment(
            loader=FileSystemLoader(self.folder),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )
        filters = {
            "signed": _signed, "number": _number, "percent": _percent, "heat": _heat, "data": _json, "ranks": _ranks,
        }  # fmt: skip
        environment.filters |= filters
        environment.globals |= {
            "span": _span,
            "shares": _shares,
            "agent_path": agent_path,
            "season_path": season_path,
            "game_path": game_path,
            "version": __version__,
            "INDEX": INDEX,
            "RULES": RULES,
        }
        return environment

    @cached_property
    def style(self) -> str:
        return "\n" + (self.folder / "style.css").read_text(encoding="utf-8")

    @cached_property
    def script(self) -> str:
        return "\n" + (self.folder / "script.js").read_text(encoding="utf-8")


_templates: Final = _Templates(_FILES)


def _render(template: str, path: str, **content: Any) -> str:
    folder = posixpath.dirname(path)

    def link(target: str) -> str:
        return quote(posixpath.relpath(target, folder or "."))

    return _templates.environment.get_template(template).render(
        link=link,
        style=Markup(_templates.style),
        script=Markup(_templates.script),
        style_policy=_policy(_templates.style),
        script_policy=_policy(_templates.script),
        **content,
    )
