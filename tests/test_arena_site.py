"""The site of a board: what its pages hold, that strangers' texts do no harm, and a browser that uses it.

The tests of the browser are left out where no Chromium is found (see `browser.py`).
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import browser
import pytest
from arena_board import Board
from click.testing import CliRunner

from tabletop_envs import cli, registry
from tabletop_envs.arena import replay as replays
from tabletop_envs.arena.board import write_ratings
from tabletop_envs.arena.play import play
from tabletop_envs.arena.replay import outcome
from tabletop_envs.arena.site import INDEX, MANIFEST, Site, build, cards
from tabletop_envs.arena.site.charts import WIDTH, Axis
from tabletop_envs.arena.site.server import Server
from tabletop_envs.core.game import ALL, Game
from tabletop_envs.core.position import Position
from tabletop_envs.errors import CorruptDataError, OptionError
from tabletop_envs.watch import film_of

VOID = {"meta", "input", "br", "hr", "link", "img"}
NASTY = "</script><script>document.title='taken'</script><img src=x onerror=alert(1)>"
CARD = f"""# A card

{NASTY}

[good](https://example.org/a?b=1&c=2) [bad](javascript:alert(1)) [near](agent.py) ![picture](https://example.org/p.png)

<b onclick="alert(1)">bold</b>

| a | b |
| --- | --- |
| 1 | `{NASTY}` |
"""
TOY = "seasons/toy_v0/3p/2026-1"
URBINO = "seasons/urbino_v0/2p/2026-1"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A board on which the toy game was played by three agents, and Urbino by two."""
    from toy_game import GAME

    root = tmp_path_factory.mktemp("site") / "board"
    registry.add(GAME)
    try:
        toy = Board(root, registry.load(GAME.id))
        for name in ("random", "greedy"):
            toy.add(name, games={"toy-v0": [3], "urbino-v0": [2]})
        training = {"decisions": 20_000_000, "hours": 1.5, "device": NASTY, "opponents": [NASTY]}
        toy.add("fox-9", "last", authors=[NASTY], licence=NASTY, training=training, packages={NASTY: NASTY})
        (root / "agents" / "fox-9" / "card.md").write_text(CARD, encoding="utf-8")
        (root / "RULES.md").write_text("# How games are played\n\nA *deal* is played from every seat.\n")
        lineups = [["fox-9", "greedy", "greedy"], ["fox-9", "random", "random"], ["greedy", "random", "random"]]
        urbino = Board(root, registry.load("urbino"))
        for folder in (toy.season(*lineups, players=3), urbino.season(["greedy", "random"], tables=2)):
            play(folder, processes=1)
            write_ratings(folder, resamples=50)
    finally:
        registry.games().pop(GAME.id)
        registry._loaded.pop(GAME.id)
    return root


@pytest.fixture
def board(played: Path, tmp_path: Path, toy: Game) -> Path:
    """A copy of that board, to be changed."""
    return Path(shutil.copytree(played, tmp_path / "board"))


@pytest.fixture
def built(board: Path, tmp_path: Path) -> Path:
    """Its site, as it is built."""
    build(Site(board), tmp_path / "built")
    return tmp_path / "built"


class Page(HTMLParser):
    """Reads a page, and fails where elements are not closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.scripts: list[str] = []
        self.styles: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)
        if tag in ("script", "style"):
            (self.scripts if tag == "script" else self.styles).append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data
        elif self.open and self.open[-1] == "style":
            self.styles[-1] += data
        else:
            self.text += data

    def values(self, tag: str, name: str) -> list[str]:
        return [attributes[name] for found, attributes in self.elements if found == tag and name in attributes]

    @property
    def ids(self) -> list[str]:
        return [attributes["id"] for _, attributes in self.elements if "id" in attributes]

    @property
    def words(self) -> str:
        return " ".join(self.text.split())


def pages(folder: Path) -> dict[str, Page]:
    return {
        path.relative_to(folder).as_posix(): Page(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html")
    }


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# --- what is built ----------------------------------------------------------------------------------------------


def test_every_page_is_there_and_every_link_resolves(built: Path) -> None:
    found = pages(built)
    assert {INDEX, "rules.html", "agents/fox-9.html", f"{TOY}/index.html", f"{URBINO}/index.html"} <= set(found)
    reached, ways = {INDEX}, [INDEX]
    while ways:
        path = ways.pop()
        for address in found[path].values("a", "href"):
            if address.startswith("https://"):
                assert path == "agents/fox-9.html"
                continue
            file, _, part = unquote(address).partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
            assert target in found, (path, address)
            assert not part or part.startswith("step=") or part in found[target].ids
            if target not in reached:
                reached.add(target)
                ways.append(target)
    assert reached == set(found)
    assert json.loads((built / MANIFEST).read_text()) == sorted(found)


def test_pages_are_sound(built: Path) -> None:
    for path, page in pages(built).items():
        assert len(page.ids) == len(set(page.ids)), path
        assert ("html", {"lang": "en"}) in page.elements
        assert [tag for tag, _ in page.elements].count("h1") == 1, path
        for _, attributes in page.elements:
            assert attributes.get("aria-labelledby", page.ids[0] if page.ids else "") in [*page.ids, ""], path
        levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
        assert all(after - before <= 1 for before, after in pairwise(levels)), (path, levels)
        assert "undefined" not in page.text
        assert "None" not in page.text


def test_the_same_files_give_the_same_pages(board: Path, built: Path, tmp_path: Path) -> None:
    build(Site(board), tmp_path / "again")
    assert contents(tmp_path / "again") == contents(built)


def test_pages_that_are_no_more_are_removed(board: Path, built: Path) -> None:
    before = contents(built)
    (built / "mine.txt").write_text("not of the site")
    build(Site(board, games=0), built)
    after = contents(built)
    assert set(before) - set(after) == {path for path in before if "/games/" in path}
    assert "mine.txt" in after
    build(Site(board), built)
    del (after := contents(built))["mine.txt"]
    assert after == before


def test_a_folder_of_something_else_is_left_alone(board: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "index.html").write_text("mine")
    with pytest.raises(OptionError, match="name a new or empty folder"):
        build(Site(board), other)
    assert contents(other) == {"index.html": b"mine"}
    for listed in ('["../../away.html"]', '["/etc/away.html"]', '["notes.txt"]', "{}", "nonsense"):
        (other / MANIFEST).write_text(listed)
        with pytest.raises(CorruptDataError, match="remove the folder"):
            build(Site(board), other)


def test_a_season_page_tells_its_ratings(board: Path, built: Path) -> None:
    ratings = json.loads((board / TOY / "ratings.json").read_text())
    page = pages(built)[f"{TOY}/index.html"]
    assert "Toy, 3 players" in page.words
    for agent in ratings["agents"]:
        rating = f"{round(agent['rating']) + 0:,}".replace("-", "\N{MINUS SIGN}")
        assert f"{agent['name']} {rating}" in page.words
        assert f"{100 * agent['win_share']['value']:.0f}%" in page.words
    titles = page.values("td", "title")
    met = [pair for pair in ratings["pairs"] if pair["share"] is not None]
    assert len(titles) == len(met) == 6
    for pair in met:
        told = f"{pair['agent']} against {pair['opponent']}: {100 * pair['share']:.0f}%"
        assert any(title.startswith(told) for title in titles)
    assert all(f"seat {seat}" in page.words for seat in range(3))
    assert ratings["rules"] in page.words


def test_pairs_that_never_met_and_failures_are_told(board: Path) -> None:
    path = board / TOY / "ratings.json"
    ratings = json.loads(path.read_text())
    for pair in ratings["pairs"]:
        if {pair["agent"], pair["opponent"]} == {"fox-9", "random"}:
            pair |= {"share": None, "low": None, "high": None, "games": 0}
    row = next(row for row in ratings["agents"] if row["name"] == "fox-9")
    row["failures"]["illegal"], row["failures"]["timeout"], row["voids"] = 3, 2, 1
    row |= dict.fromkeys(("rank", "rank_low", "rank_high", "first"))
    path.write_text(json.dumps(ratings))
    manifest = board / "agents" / "fox-9" / "agent.json"
    manifest.write_text(manifest.read_text().replace('"deterministic": true', '"deterministic": false'))
    page = Page(Site(board).page(f"{TOY}/index.html") or "")
    assert "fox-9 not re-askable" in page.words
    assert "fox-9 and random never met" in page.values("td", "title")
    assert "6 3 illegal 2 timeout 1 void" in page.words
    assert "\N{EN DASH}" in page.words
    Page(Site(board).page("agents/fox-9.html") or "")
    Page(Site(board).page(INDEX) or "")


def test_recorded_games_are_listed_with_their_pages(board: Path, built: Path) -> None:
    page = pages(built)[f"{TOY}/index.html"]
    (listed,) = [json.loads(script) for script in page.scripts if script.startswith('{"agents"')]
    assert listed["agents"] == ["fox-9", "greedy", "random"]
    assert len(listed["games"]) == 3 * 3 * 3
    with_page = [f"{listed['files'][game[0]]}-{game[1]}" for game in listed["games"] if game[-1]]
    assert len(with_page) == 2 * 3
    assert {path.stem for path in (built / TOY / "games").iterdir()} == set(with_page)
    games = list(replays.read(board / TOY / f"games-{listed['files'][0]}.jsonl.gz"))
    for file, number, place, agents, points, places, decisions, end, _ in listed["games"]:
        if file == 0:
            game = games[number - 1]
            assert tuple(listed["agents"][agent] for agent in agents) == game.agents
            assert (tuple(points), tuple(places), decisions) == (game.points, game.places, len(game.actions))
            assert place == f"{game.info['table']}.{game.info['rotation']}"
            assert end == ("" if game.end == "rules" else game.end)


def test_a_sample_spreads_over_tables_and_rotations(board: Path) -> None:
    season = next(season for season in Site(board).board.seasons if season.path == TOY)
    places = [game.place for game in season.sample(3)]
    assert len(places) == 9
    assert len(set(places[:3])) == 3
    assert {place.partition(".")[2] for place in places[:3]} == {"0", "1", "2"}
    assert season.sample(0) == []
    assert len(season.sample(1000)) == len(season.games)
    assert len({game.name for game in season.sample(1000)}) == len(season.games)


def test_a_game_page_shows_the_game(board: Path, built: Path) -> None:
    path = f"{URBINO}/games/anchors-1.html"
    assert path in contents(built)
    page = pages(built)[path]
    (game,) = list(replays.read(board / URBINO / "games-anchors.jsonl.gz"))[:1]
    shown = json.loads(next(script for script in page.scripts if script.startswith("{")))
    assert len(shown["frames"]) == len(game.actions) + 1
    assert tuple(shown["frames"][-1]["points"]) == game.points
    assert page.values("a", "href")[0] == "../index.html"
    assert "Urbino, 2 players" in page.words


def test_several_seasons_and_games_that_are_gone(board: Path) -> None:
    for name, game in (("2026-2", None), ("2026-10", None)):
        folder = Path(shutil.copytree(board / URBINO, board / "seasons/urbino_v0/2p" / name))
        ratings = json.loads((folder / "ratings.json").read_text())
        (folder / "ratings.json").write_text(json.dumps({**ratings, "season": name, "game": game or ratings["game"]}))
    gone = Path(shutil.copytree(board / URBINO, board / "seasons/chess_v1/2p/2026-1"))
    ratings = json.loads((gone / "ratings.json").read_text())
    (gone / "ratings.json").write_text(json.dumps({**ratings, "game": "chess-v1"}))
    site = Site(board, games=1)
    index = Page(site.page(INDEX) or "")
    links = index.values("a", "href")
    assert "seasons/urbino_v0/2p/2026-10/index.html" in links
    assert f"{URBINO}/index.html" not in links
    older = Page(site.page("seasons/urbino_v0/2p/2026-2/index.html") or "")
    assert {"../2026-1/index.html", "../2026-10/index.html"} <= set(older.values("a", "href"))
    assert "chess-v1, 2 players" in index.words
    assert not [path for path in site.paths() if path.startswith("seasons/chess_v1/2p/2026-1/games")]
    assert "chess-v1, 2 players" in Page(site.page("seasons/chess_v1/2p/2026-1/index.html") or "").words


def test_an_empty_board(tmp_path: Path) -> None:
    assert build(Site(tmp_path), tmp_path / "site") == 1
    assert "No season has been rated yet" in pages(tmp_path / "site")[INDEX].words


# --- strangers' texts -------------------------------------------------------------------------------------------


def test_no_text_of_a_submission_becomes_markup(built: Path) -> None:
    for path, page in pages(built).items():
        tags = [tag for tag, _ in page.elements]
        assert "img" not in tags, path
        assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")], path
        assert not [address for address in page.values("a", "href") if "javascript" in address], path
        data = page.values("script", "type").count("application/json")
        assert tags.count("script") == data + 1, path
        assert "alert" not in page.scripts[-1]
    assert NASTY in pages(built)["agents/fox-9.html"].text


def test_the_policy_lets_only_our_script_run(built: Path) -> None:
    for path, page in pages(built).items():
        if "/games/" in path:
            continue
        policy = next(a["content"] for tag, a in page.elements if a.get("http-equiv") == "Content-Security-Policy")
        assert policy.startswith("default-src 'none'")
        assert "unsafe" not in policy
        for text in (page.scripts[-1], page.styles[-1]):
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            assert f"'sha256-{digest}'" in policy
        assert not [a for _, a in page.elements if "style" in a], path
        assert not page.values("script", "src")


def test_cards() -> None:
    page = Page(f"<main>{cards.rendered(CARD)}</main>")
    tags = [tag for tag, _ in page.elements]
    assert not {"script", "img", "b"} & set(tags)
    assert {"h3", "table", "code"} <= set(tags)
    assert page.values("a", "href") == ["https://example.org/a?b=1&c=2", "https://example.org/p.png"]
    assert set(page.values("a", "rel")) == {"nofollow noopener noreferrer"}
    assert '<b onclick="alert(1)">bold</b>' in page.text
    assert [tag for tag, _ in Page(f"<p>{cards.rendered('###### deep')}</p>").elements] == ["p", "h6"]


@pytest.mark.parametrize("name", ["../../away", "a/b", "<b>", "", "A"])
def test_names_that_are_none(board: Path, name: str) -> None:
    path = board / TOY / "ratings.json"
    path.write_text(path.read_text().replace('"fox-9"', json.dumps(name)))
    with pytest.raises(CorruptDataError, match="is no name of an agent"):
        Site(board)


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        (f"{TOY}/ratings.json", "nonsense", r"ratings\.json:1 cannot be read"),
        (f"{TOY}/ratings.json", '{"schema": 2}', "arena rate"),
        ("agents/fox-9/agent.json", '{"name": "fox-9"}', r"agent\.json:1: "),
        ("agents/fox-9/agent.json", "{", r"agent\.json:1"),
    ],
)
def test_broken_files_are_named(board: Path, file: str, text: str, message: str) -> None:
    (board / file).write_text(text)
    with pytest.raises(CorruptDataError, match=message):
        Site(board)


def test_broken_games_are_named(board: Path) -> None:
    path = next((board / TOY).glob("games-*.jsonl.gz"))
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(CorruptDataError, match=path.name):
        Site(board).page(f"{TOY}/index.html")


# --- charts and films -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([950.0, 12.0], [0, 500]),
        ([410.0, None], [0, 200, 400]),
        ([-28.0, 14.0], [-20, 0]),
        ([0.0], [0, 0.5, 1]),
        ([-0.4, 0.3], [-0.4, -0.2, 0, 0.2]),
    ],
)
def test_axes(values: list[float | None], ticks: list[float]) -> None:
    axis = Axis(values)
    assert axis.ticks == pytest.approx(ticks)
    places = [axis.at(tick) for tick in axis.ticks]
    assert places == sorted(places)
    assert places[0] >= 0
    assert places[-1] <= WIDTH


def test_an_interval_lies_where_the_axis_says() -> None:
    axis = Axis([-100.0, 300.0])
    drawn = str(axis.interval(100.0, 50.0, 200.0))
    assert f'x1="{axis.at(50):.1f}" x2="{axis.at(200):.1f}"' in drawn
    assert f'cx="{axis.at(100):.1f}"' in drawn
    assert "circle" not in str(axis.interval(None, None, None))
    assert str(axis.numbers()).count("<text") == len(axis.ticks)


def test_a_film_tells_of_a_forfeit(toy: Game) -> None:
    whole = next(replays.sample(toy, toy.settings(3), ["random"] * 3, 1, 3))
    position = Position.new(toy, 3, seed=whole.seed)
    for action in whole.actions[:4]:
        position.apply(action)
    points, places, end = outcome(position, f"illegal:{position.seat}")
    game = replace(whole, actions=whole.actions[:4], points=tuple(points), places=tuple(places), end=end)
    last = film_of(game, ALL).frames[-1]
    assert last.events[-1] == f"seat {position.seat} forfeits the game (illegal)"
    assert (last.points, last.places) == (game.points, game.places)
    assert last.places is not None
    assert last.places[position.seat or 0] == 3


# --- serving and commands ---------------------------------------------------------------------------------------


@contextmanager
def served(board: Path) -> Iterator[Server]:
    with Server(board) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def get(address: str, method: str = "GET") -> tuple[int, str]:
    try:
        with urllib.request.urlopen(urllib.request.Request(address, method=method), timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_a_server_shows_every_game_as_the_files_stand(board: Path, built: Path) -> None:
    with served(board) as server:
        assert server.address.startswith("http://127.0.0.1:")
        assert get(server.address) == (200, (built / INDEX).read_text())
        assert get(server.address + f"{TOY}/?a=b")[0] == 200
        season = Page(get(server.address + f"{TOY}/index.html")[1])
        (listed,) = [json.loads(script) for script in season.scripts if script.startswith('{"agents"')]
        assert all(game[-1] for game in listed["games"])
        for file, number, *_ in listed["games"]:
            status, text = get(f"{server.address}{TOY}/games/{listed['files'][file]}-{number}.html")
            assert status == 200
            assert "#step=0" in text
        assert get(server.address + INDEX, "HEAD") == (200, "")
        for path in (
            f"{TOY}/games/anchors-999.html",
            "agents/nobody.html",
            "agents/fox-9",
            "../board/RULES.md",
            "%00",
        ):
            assert get(server.address + path)[0] == 404, path
        path = board / TOY / "ratings.json"
        path.write_text(path.read_text().replace('"season": "2026-1"', '"season": "2026-one"'))
        assert "2026-one" in get(server.address + f"{TOY}/index.html")[1]
        path.write_text("<nonsense>")
        status, text = get(server.address)
        assert status == 500
        assert "ratings.json:1 cannot be read" in text
        assert "<nonsense>" not in text


def test_a_port_that_is_taken(board: Path) -> None:
    with Server(board) as server, pytest.raises(OptionError, match=f"port {server.server_port} cannot be had"):
        Server(board, server.server_port)


def test_build_in_the_command_line(board: Path, built: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(cli.main, ["arena", "build", str(board), "--output", str(tmp_path / "site")])
    assert result.exit_code == 0, result.output
    assert f"{len(pages(built))} pages; open" in result.output
    assert contents(tmp_path / "site") == contents(built)
    assert "## Toy, 3 players" in (board / "README.md").read_text()
    result = CliRunner().invoke(cli.main, ["arena", "build", str(board), "--output", str(board)])
    assert result.exit_code == 1
    assert "name a new or empty folder" in result.output


def test_build_without_its_extra(board: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("tabletop_envs.arena.site")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("tabletop_envs.arena.site")
    monkeypatch.setitem(sys.modules, "jinja2", None)
    result = CliRunner().invoke(cli.main, ["arena", "build", str(board)])
    assert result.exit_code == 1
    assert "pip install 'tabletop-envs[arena]'" in result.output


def test_serve_ends_by_ctrl_c(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tabletop_envs", "arena", "serve", str(tmp_path), "--port", "0"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(part for part in sys.path if part)}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    address = process.stdout.readline().split()[0]
    assert "No season has been rated yet" in get(address)[1]
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "ended\n", "")


# --- in a browser -----------------------------------------------------------------------------------------------

needs_browser = pytest.mark.skipif(browser.find() is None, reason="no Chromium is installed")


@pytest.fixture(scope="module")
def page() -> Iterator[browser.Browser]:
    path = browser.find()
    assert path is not None
    opened = browser.Browser(path)
    try:
        yield opened
    finally:
        opened.close()


def column(page: browser.Browser, number: int) -> list[Any]:
    """What stands in a column of the ranking, from top to bottom."""
    return list(page.do(f"[...document.querySelectorAll('#table tbody tr')].map(row => row.cells[{number}].innerText)"))


def choose(page: browser.Browser, choice: str, value: str) -> None:
    """Choose from a list of the page."""
    page.do(
        f"(c => {{ c.value = '{value}'; c.dispatchEvent(new Event('change')); }})(document.getElementById('{choice}'))"
    )


@needs_browser
def test_a_browser_finds_its_way_from_a_folder(built: Path, page: browser.Browser) -> None:
    page.complaints.clear()
    page.open(built / INDEX)
    page.click(f"a[href='{TOY}/index.html']")
    page.wait("document.title.startsWith('Toy, 3 players')")

    ranks = [text.split()[0] for text in column(page, 0)]
    assert ranks == sorted(ranks)
    page.click("#table thead th:nth-child(2) button")
    assert [name.strip() for name in column(page, 1)] == ["fox-9", "greedy", "random"]
    page.click("#table thead th:nth-child(2) button")
    assert [name.strip() for name in column(page, 1)] == ["random", "greedy", "fox-9"]
    assert page.do("document.querySelector('#table th:nth-child(2)').getAttribute('aria-sort')") == "descending"
    # the same by the keyboard
    page.do("document.querySelector('#table th:nth-child(3) button').focus()")
    page.press("Enter", "\r")
    ratings = [float(text.split()[0].replace("\N{MINUS SIGN}", "-")) for text in column(page, 2)]
    assert ratings == sorted(ratings, reverse=True)

    count = "document.querySelectorAll('#games tbody tr').length"
    assert page.do(count) == 6
    page.click("#watchable")
    assert page.do("document.getElementById('found').textContent") == "27 games"
    choose(page, "agent", "0")
    assert page.do(count) == 18
    assert page.do("[...document.querySelectorAll('#games .seats')].every(cell => cell.innerText.includes('fox-9'))")

    page.click("#games tbody a")
    page.wait("document.getElementById('board') && document.querySelector('#board svg')")
    assert page.do("document.getElementById('count').textContent").startswith("0 of ")
    first = page.do("document.getElementById('board').innerHTML")
    page.press("ArrowRight")
    assert page.do("document.getElementById('count').textContent").startswith("1 of ")
    assert page.do("document.getElementById('board').innerHTML") != first
    page.click("#last")
    assert page.do("document.getElementById('next').disabled")
    assert all(cell.isdigit() for cell in page.do("[...document.querySelectorAll('td.places')].map(c => c.innerText)"))
    page.click(".back")
    page.wait("document.title.startsWith('Toy, 3 players')")
    assert page.complaints == []


@needs_browser
def test_divisions_rank_anew(built: Path, page: browser.Browser) -> None:
    page.complaints.clear()
    page.open(built / f"{TOY}/index.html")
    assert page.do("document.getElementById('division').value") == "open"
    choose(page, "division", "trained-1e7")
    shown = "[...document.querySelectorAll('#table tbody tr')].filter(row => !row.hidden).map(row => row.dataset.name)"
    assert "fox-9" not in page.do(shown)
    assert set(page.do(shown)) == {"greedy", "random"}
    assert page.complaints == []


@needs_browser
@pytest.mark.parametrize("dark", [False, True])
def test_pages_fit_a_phone_and_can_be_read(built: Path, page: browser.Browser, dark: bool) -> None:
    page.complaints.clear()
    page.look(390, 844, dark=dark)
    try:
        for path in (INDEX, "rules.html", "agents/fox-9.html", f"{TOY}/index.html", f"{URBINO}/games/anchors-1.html"):
            page.open(built / path)
            assert page.do("document.documentElement.scrollWidth") <= 390, path
            contrast, text = page.do(_CONTRAST)
            assert contrast >= 4.5, (path, text)
    finally:
        page.look(1280, 900)
    assert page.complaints == []


# the least contrast of a text to what lies below it, as the Web Content Accessibility Guidelines reckon it
_CONTRAST = """(() => {
  const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = colour => {
    probe.clearRect(0, 0, 1, 1);
    probe.fillStyle = colour;
    probe.fillRect(0, 0, 1, 1);
    return [...probe.getImageData(0, 0, 1, 1).data];
  };
  const over = (top, below) => [0, 1, 2].map(i => (top[i] * top[3] + below[i] * (255 - top[3])) / 255).concat(255);
  const linear = v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => [r, g, b].map(v => linear(v / 255))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  let least = [21, ""];
  for (const element of document.querySelectorAll("body *:not(script):not(svg *):not(option)")) {
    const bare = [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim());
    if (!bare || !element.checkVisibility() || element.matches(".unseen, .unseen *, :disabled")) continue;
    let below = [255, 255, 255, 255];
    const chain = [];
    for (let up = element; up; up = up.parentElement) chain.unshift(rgba(getComputedStyle(up).backgroundColor));
    for (const colour of chain) below = over(colour, below);
    const style = getComputedStyle(element), ink = rgba(style.color);
    ink[3] *= Number(style.opacity);
    const [a, b] = [light(over(ink, below)), light(below)].sort((x, y) => y - x);
    const contrast = (a + 0.05) / (b + 0.05);
    if (contrast < least[0]) least = [contrast, element.outerHTML];
  }
  return least;
})()"""
