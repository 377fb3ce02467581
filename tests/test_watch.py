"""Watching games: frames for a viewer, pages, films, stepping through in a terminal, and the command."""

from __future__ import annotations

import dataclasses
import io
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from PIL import Image

from tabletop_envs import cli, watch
from tabletop_envs.arena import replay as replays
from tabletop_envs.arena.replay import Replay
from tabletop_envs.core.game import ALL, PUBLIC, Game
from tabletop_envs.core.layout import ActionLayout
from tabletop_envs.errors import CorruptDataError, MissingExtraError, OptionError, TerminalError, UnknownAgentError
from tabletop_envs.render import film as films
from tabletop_envs.render.frame import Frame
from tabletop_envs.render.html import page
from tabletop_envs.render.scene import Cell, Circle, Scene
from tabletop_envs.render.svg import svg
from tabletop_envs.testing import decisions
from tabletop_envs.testing.suite import run_check, subject_of
from tabletop_envs.watch import SECRET, Film, film_of, film_of_agents, step_through

PIXELS = 64
VOID = {"meta", "input", "br", "hr", "img", "link"}
NAMESPACE = ' xmlns="http://www.w3.org/2000/svg"'


def recorded(game: Game, players: int = 2, seed: int = 3) -> Replay:
    names = ["random"] * players
    return next(replays.sample(game, game.settings(players), names, 1, seed))


@pytest.fixture
def toy_replay(toy: Game) -> Replay:
    return recorded(toy, 3)


@pytest.fixture
def short(two_moves: Game) -> Film:
    return film_of(recorded(two_moves))


class Page(HTMLParser):
    """Reads a page, and fails where elements are not closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.data = self.script = self.listed = self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []
        self.game = json.loads(self.data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            if self.elements[-1][1].get("type") == "application/json":
                self.data += data
            else:
                self.script += data
        else:
            self.text += data
            if "ol" in self.open:
                self.listed += data

    def picture(self, step: int) -> str:
        return "\n".join(
            "".join(self.game["parts"][part] for part in numbers(self.game["lines"][line]))
            for line in numbers(self.game["frames"][step]["picture"])
        )


def numbers(runs: list[int]) -> list[int]:
    """What a page's runs of numbers stand for."""
    return [first + n for first, count in zip(runs[::2], runs[1::2], strict=True) for n in range(count)]


# --- frames -----------------------------------------------------------------------------------------------------


def test_frames_of_a_replay(toy: Game, toy_replay: Replay) -> None:
    film = film_of(toy_replay, ALL)
    assert film.title == "Toy: random against random against random"
    assert len(film.frames) == len(toy_replay.actions) + 1
    position = toy_replay.start()
    first = film.frames[0]
    assert (first.seat, first.decision, first.scene) == (None, "", position.scene(ALL))
    assert first.words == "the beginning"
    for action, frame in zip(toy_replay.actions, film.frames[1:], strict=True):
        assert (frame.seat, frame.decision) == (position.seat, position.action_text(action))
        assert frame.words == f"seat {frame.seat} (random): {frame.decision}"
        position.apply(action)
        assert frame.scene == position.scene(ALL)
        assert frame.events == tuple(position.events())
        assert frame.points == tuple(position.points())
        assert frame.places == tuple(position.places())
    assert film.frames[-1].points == toy_replay.points


def test_a_viewer_is_told_no_secret(toy: Game, toy_replay: Replay) -> None:
    everything = film_of(toy_replay, ALL).frames
    for viewer in (PUBLIC, 0, 2):
        frames = film_of(toy_replay, viewer).frames
        hidden = 0
        for known, frame, action in zip(everything[1:], frames[1:], toy_replay.actions, strict=True):
            if frame.seat == viewer or not toy.actions.is_secret(action):
                assert frame.decision == known.decision
            else:
                assert frame.decision == SECRET
                hidden += 1
            assert frame.points is None or frame is frames[-1]
        assert hidden > 0
        assert frames[-1].points == toy_replay.points


def test_running_points_are_shown_where_nothing_is_secret(two_moves: Game) -> None:
    assert all(frame.points is not None for frame in film_of(recorded(two_moves)).frames)


def test_drawn_openings_are_told(two_moves: Game) -> None:
    replay = dataclasses.replace(recorded(two_moves), opening=1)
    players = [frame.player for frame in film_of(replay).frames]
    assert players == ["", watch.DRAWN, "random"]


def test_agents_at_play(toy: Game) -> None:
    settings = toy.settings(3, heap=9)
    names = ["random", "greedy", "random"]
    film = film_of_agents(toy, settings, names, seed=5, viewer=ALL)
    assert film.frames == film_of_agents(toy, settings, names, seed=5, viewer=ALL).frames
    assert film.frames != film_of_agents(toy, settings, names, seed=6, viewer=ALL).frames
    assert {frame.player for frame in film.frames[1:] if frame.seat == 1} == {"greedy"}
    with pytest.raises(OptionError, match="name one a seat"):
        film_of_agents(toy, settings, ["random"])
    with pytest.raises(UnknownAgentError, match="did you mean 'greedy'"):
        film_of_agents(toy, settings, ["gredy"] * 3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"actions": (10**6,)}, r"cannot be played: actions\[0\]"),
        ({"points": (99, 0, 0)}, "played again with"),
        ({"end": "cap"}, "played again with"),
        ({"actions": ()}, "not over after its 0 actions"),
    ],
)
def test_games_that_did_not_go_so(toy_replay: Replay, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(CorruptDataError, match=message):
        film_of(dataclasses.replace(toy_replay, **changes))


def test_actions_behind_the_end(toy_replay: Replay) -> None:
    with pytest.raises(CorruptDataError, match="the game is over"):
        film_of(dataclasses.replace(toy_replay, actions=(*toy_replay.actions, 0)))


def test_games_of_a_file(two_moves: Game, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    games = [recorded(two_moves, seed=seed) for seed in range(2)]
    path.write_text(games[0].to_line() + "\n\nnonsense\n" + games[1].to_line() + "\n")
    assert watch.load(path) == games[0]
    assert watch.load(path, 3) == games[1]
    with pytest.raises(CorruptDataError, match=r"games\.jsonl:3 cannot be read"):
        watch.load(path, 2)
    with pytest.raises(OptionError, match="a number from 1 to 3"):
        watch.load(path, 4)
    path.write_text("\n")
    with pytest.raises(CorruptDataError, match="holds no game"):
        watch.load(path)


def test_the_check_of_open_decisions(toy: Game) -> None:
    subject = subject_of(toy, quick=True, games=1)
    assert "secret: play, pass" in decisions.open_decisions(subject)
    open_toy = toy.with_functions()
    open_toy.actions = ActionLayout(*(dataclasses.replace(block, secret=False) for block in toy.actions.blocks))
    report = run_check("open decisions", subject_of(open_toy, quick=True, games=1))
    assert not report.ok
    assert "declare their blocks with secret=True" in report.detail


# --- pages ------------------------------------------------------------------------------------------------------


def test_a_page_holds_every_step(toy_replay: Replay) -> None:
    film = film_of(toy_replay, ALL)
    read = Page(page(film.frames, film.title, film.players))
    assert ("title", {}) in read.elements
    links = [attributes["href"] for tag, attributes in read.elements if tag == "a"]
    assert links == [f"#step={number}" for number in range(len(film.frames))]
    assert len(read.game["frames"]) == len(film.frames)
    for number, (frame, shown) in enumerate(zip(film.frames, read.game["frames"], strict=True)):
        assert read.picture(number) == svg(frame.scene).replace(NAMESPACE, "")
        assert shown["words"] == frame.words
        assert frame.words in read.listed
        assert shown["events"] == list(frame.events)
        assert shown["points"] == list(frame.points or ())
        assert shown["places"] == list(frame.places or ())


def test_a_page_needs_nothing_else(short: Film) -> None:
    text = page(short.frames, short.title, short.players)
    read = Page(text)
    for address in ("http:", "https:", "url(", "@import", "fetch(", "import("):
        assert address not in text
    for tag, attributes in read.elements:
        assert tag not in {"link", "img", "iframe", "object"}
        assert "src" not in attributes
        assert (attributes.get("href") or "#").startswith("#")
    policy = next(a["content"] for tag, a in read.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert str(policy).startswith("default-src 'none'")


def test_a_page_links_back(short: Film) -> None:
    read = Page(page(short.frames, short.title, short.players, back=('../list.html?a="b"&c', "all <games>")))
    (href,) = [a["href"] for tag, a in read.elements if tag == "a" and not str(a["href"]).startswith("#")]
    assert href == '../list.html?a="b"&c'
    assert "all <games>" in read.text


def test_a_page_can_be_used_by_everybody(short: Film) -> None:
    text = page(short.frames, short.title, short.players)
    controls = [(tag, a) for tag, a in Page(text).elements if tag in ("button", "input", "select")]
    assert len(controls) == 7
    assert all(attributes.get("aria-label") for _, attributes in controls)
    assert "prefers-color-scheme: dark" in text
    assert "width=device-width" in text
    assert "seat 1 (random)" in text


def test_a_page_escapes_every_text() -> None:
    nasty = "</script><script>alert('&\"')</script>"
    scene = Scene(10, 10, "#ffffff", (Circle(1, 1, 1, title=nasty),), nasty, caption=(nasty,))
    frames = [Frame(scene), Frame(scene, 0, nasty, nasty, (nasty,), (1,), (1,))]
    read = Page(page(frames, nasty, [nasty]))
    assert [tag for tag, _ in read.elements].count("script") == 2
    assert "alert" not in read.script
    assert read.game["frames"][1]["words"] == f"seat 0 ({nasty}): {nasty}"
    assert f"seat 0 ({nasty}): {nasty}" in read.listed


def test_a_page_for_a_viewer_holds_no_secret(toy_replay: Replay) -> None:
    seat = 1
    film = film_of(toy_replay, seat)
    text = page(film.frames, film.title, film.players)
    position, secrets = toy_replay.start(), set()
    for action in toy_replay.actions:
        if position.seat != seat and position.game.actions.is_secret(action):
            secrets.add(f"seat {position.seat} (random): {position.action_text(action)}")
        position.apply(action)
    assert secrets
    assert not [secret for secret in secrets if secret in text]
    assert f"seat {seat} (random): pl" in text
    assert f"seat 0 (random): {SECRET}" in text
    assert "in the deck" not in text
    assert "in the deck" in page(film_of(toy_replay, ALL).frames, film.title)
    # not even the key of the game, from which everything follows
    assert str(toy_replay.seed) not in text


def test_pages_are_small(short: Film) -> None:
    game_page = page(film_of_agents(*urbino(), ["random", "greedy"], seed=5).frames, "a game")
    assert len(game_page) < 150_000
    with pytest.raises(OptionError, match="at least one frame"):
        page([], "nothing")
    with pytest.raises(OptionError, match="give more than 0"):
        page(short.frames, "a game", seconds=0)


def urbino() -> tuple[Game, Any]:
    from tabletop_envs import registry

    game = registry.load("urbino")
    return game, game.settings()


# --- films ------------------------------------------------------------------------------------------------------


def test_gifs(toy_replay: Replay, tmp_path: Path) -> None:
    frames = film_of(toy_replay).frames
    path = tmp_path / "game.gif"
    films.gif(frames, path, pixels=PIXELS, seconds=0.5)
    expected = list(films.pictures(frames, PIXELS))
    with Image.open(path) as image:
        assert image.n_frames == len(frames)
        assert (image.height, image.width) == expected[0].shape[:2]
        assert min(image.size) == PIXELS
        assert image.info["loop"] == 0
        durations = []
        for number, array in enumerate(expected):
            image.seek(number)
            durations.append(image.info["duration"])
            shown = np.asarray(image.convert("RGB")).astype(int)
            assert np.abs(shown - array).mean() < 8  # 256 colours are fewer than the picture has
    assert durations == [500] * (len(frames) - 1) + [1500]


def test_pictures_of_a_film_have_one_size() -> None:
    scenes = [Scene(width, height, "#ffffff", (), "a") for width, height in ((100, 100), (150, 80))]
    first, second = films.pictures([Frame(scene) for scene in scenes], 60)
    assert first.shape == second.shape
    assert (first != second).any()  # the strip tells how far the game is


def test_long_words_stay_in_the_picture() -> None:
    scene = Scene(100, 100, "#ffffff", (), "a")
    (longer,) = films.pictures([Frame(scene, 0, "", "word " * 100)], 400)
    strip = longer[int(longer.shape[0] * 0.945) : -6]
    assert (strip[:, -4:] == strip[0, -1]).all()
    assert (strip[:, 20:200] != strip[0, -1]).any()


@pytest.mark.parametrize("seconds", [0, 0.019, -1, float("nan")])
def test_impossible_times(short: Film, seconds: float, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"give at least 0\.02"):
        films.gif(short.frames, tmp_path / "game.gif", seconds=seconds)


def test_mp4(short: Film, tmp_path: Path) -> None:
    ffmpeg = pytest.importorskip("imageio_ffmpeg")
    path = tmp_path / "game.mp4"
    films.mp4(short.frames, path, pixels=PIXELS, seconds=0.5)
    reader = ffmpeg.read_frames(str(path))
    facts = next(reader)
    height, width, _ = next(films.pictures(short.frames, PIXELS)).shape
    assert facts["size"] == (width, height)
    shown = [np.frombuffer(data, np.uint8) for data in reader]
    assert len(shown) == pytest.approx(10 * 0.5 * (len(short.frames) - 1 + 3), abs=1)
    assert (shown[0] != shown[-1]).any()


def test_mp4_without_its_extra(short: Film, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "imageio_ffmpeg", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'tabletop-envs\[video\]'"):
        films.mp4(short.frames, tmp_path / "game.mp4")
    assert not list(tmp_path.iterdir())


# --- in a terminal ----------------------------------------------------------------------------------------------


def steps(film: Film, typed: str) -> list[int]:
    """Which steps are shown to somebody who types so."""
    sink = io.StringIO()
    step_through(film, source=io.StringIO(typed), sink=sink)
    return [int(number) for number in re.findall(r"step (\d+) of", sink.getvalue())]


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("", [0]),
        ("q\n", [0]),
        ("\n\n\n\n\n", [0, 1, 2]),
        ("\nb\nb\n\n", [0, 1, 0, 1]),
        ("2\nb\n0\nQ\n\n", [0, 2, 1, 0]),
        ("3\nx\n-1\n\nq\n", [0, 1]),
    ],
)
def test_stepping(short: Film, typed: str, shown: list[int]) -> None:
    assert steps(short, typed) == shown


def test_what_a_step_shows(short: Film) -> None:
    sink = io.StringIO()
    step_through(short, source=io.StringIO("9\n2\nq\n"), sink=sink)
    text, last = sink.getvalue(), short.frames[-1]
    assert "'9' is no step: type a number from 0 to 2" in text
    assert last.scene.title in text
    assert last.words in text
    assert f"seat 1: {last.points[1]} (place {last.places[1]})" in text
    assert "\x1b" not in text


def test_playing_by_itself(short: Film) -> None:
    sink, slept = io.StringIO(), []
    step_through(short, delay=0.25, source=io.StringIO(), sink=sink, sleep=slept.append)
    assert slept == [0.25, 0.25]
    assert "step 2 of 2" in sink.getvalue()
    assert watch.PROMPT not in sink.getvalue()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_terminals(short: Film, monkeypatch: pytest.MonkeyPatch) -> None:
    sink = Terminal()
    monkeypatch.setenv("COLUMNS", "80")
    step_through(short, source=io.StringIO("\n"), sink=sink)
    assert sink.getvalue().count(watch.CLEAR) == 2
    wide = dataclasses.replace(short.frames[0].scene, grid=((Cell("x" * 50),),))
    film = Film("wide", (), (Frame(wide),))
    monkeypatch.setenv("COLUMNS", "49")
    with pytest.raises(TerminalError, match="49 columns, but the game takes 50"):
        step_through(film, source=io.StringIO(), sink=sink)


# --- the command ------------------------------------------------------------------------------------------------

Command = Callable[..., Result]


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Command:
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object, typed: str = "") -> Result:
        return CliRunner().invoke(cli.main, ["watch", *map(str, arguments)], input=typed)

    return run


@pytest.fixture
def games(two_moves: Game, tmp_path: Path) -> str:
    replays.append(tmp_path / "games.jsonl", [recorded(two_moves, seed=seed) for seed in range(2)])
    return "games.jsonl"


def test_watching_a_replay(games: str, call: Command) -> None:
    result = call(games, "--game-number", 2, typed="\n\nq\n")
    assert result.exit_code == 0, result.output
    assert "step 2 of 2" in result.output


def test_watching_agents(toy: Game, call: Command, tmp_path: Path) -> None:
    chosen = ("--agents", "random,greedy,random", "--game", "toy", "-o", "heap=9", "--seed", 5)
    result = call(*chosen, "--viewer", "1", "--html", "a.html", "--gif", "a.gif", "--pixels", PIXELS, "--delay", 0.1)
    assert result.exit_code == 0, result.output
    film = film_of_agents(toy, toy.settings(3, heap=9), ["random", "greedy", "random"], seed=5, viewer=1)
    made = Page((tmp_path / "a.html").read_text(encoding="utf-8"))
    assert [frame["words"] for frame in made.game["frames"]] == [frame.words for frame in film.frames]
    assert made.game["seconds"] == 0.1
    with Image.open(tmp_path / "a.gif") as image:
        assert (image.n_frames, min(image.size), image.info["duration"]) == (len(film.frames), PIXELS, 100)


def test_one_agent_takes_all_seats(toy: Game, call: Command) -> None:
    result = call("--agents", "greedy", "--game", "toy", "--players", 4, "--viewer", "all", typed="q\n")
    assert result.exit_code == 0, result.output
    assert "greedy against greedy against greedy against greedy" in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--viewer", "7"], "viewer=7 is not possible: give 'public', 'all' or a seat, 0 to 1"),
        (["--viewer", "me"], "viewer='me' is not possible"),
        (["--game-number", "3"], "games.jsonl has no game 3: give a number from 1 to 2"),
        (["--html", "no/where.html"], "no/where.html: No such file or directory: name another place"),
        (["--gif", "no/where.gif", "--pixels", "64"], "no/where.gif: No such file or directory: name another place"),
        (["--gif", "a.gif", "--pixels", "3"], "pixels=3 is not possible"),
    ],
)
def test_what_cannot_be_watched(games: str, call: Command, arguments: list[str], message: str) -> None:
    result = call(games, *arguments)
    assert result.exit_code == 1, result.output
    assert message in result.stderr
    assert "Traceback" not in result.output


def test_corrupt_files(games: str, call: Command, tmp_path: Path) -> None:
    path = tmp_path / games
    path.write_text(path.read_text()[:40])
    result = call(games)
    assert result.exit_code == 1
    assert "games.jsonl:1 breaks off in the middle of a game" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--agents", "random"],
        ["games.jsonl", "--agents", "random", "--game", "two_moves"],
        ["games.jsonl", "--seed", "1"],
        ["games.jsonl", "--pixels", "64"],
        ["--agents", "random", "--game", "two_moves", "--game-number", "1"],
    ],
)
def test_what_does_not_go_together(games: str, call: Command, arguments: list[str]) -> None:
    result = call(*arguments)
    assert result.exit_code == 2, result.output
    assert "Usage:" in result.stderr
