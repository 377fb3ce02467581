"""Golden files: readable transcripts of short games, and digests of what agents meet. They hold still per version.

A change of a game shows in their diff and is reviewed like code; once a version is published, it asks for the next
`GAME.version`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from tabletop_envs.core.game import ALL, Game
from tabletop_envs.core.position import Position
from tabletop_envs.core.spec import Settings
from tabletop_envs.envs.rewards import DEFAULT_REWARD, Reward
from tabletop_envs.testing.processes import public_digest
from tabletop_envs.testing.subject import (
    GREEDY,
    LONG,
    RANDOM,
    Subject,
    fail,
    label,
    pick,
    quick_grid,
    shortened,
    small_grid,
    walk,
)

DIGESTS: Final = "golden.json"
TRANSCRIPTS: Final = "playthroughs"
KEY: Final = "trajectories"  # of a game's entry in golden.json; other tests keep theirs under other keys

_REWRITE: Final = "python -m tabletop_envs.testing write-golden"
_GAMES: Final = 4  # games a digest is over
_SEED: Final = 1
_SHOWN: Final = 8  # legal actions that a transcript lists
_BYTES: Final = 24_000  # of one game's transcript


# --- transcripts ------------------------------------------------------------------------------------------------


def transcript(game: Game, settings: Settings, style: str = RANDOM, seed: int = _SEED) -> str:
    """A game in readable form: decisions in a line each, and as many positions in full as fit 24,000 characters.

    Of a game with too many decisions for that the middle is left out. style: `RANDOM` or `GREEDY`.
    """
    positions = [position.clone() for position in walk(game, settings, seed, style)]
    lines = [_line(position, seed, style) for position in positions]
    events = [[f"      ! {event}" for event in position.events()] for position in positions]
    kept = _kept([*map(list.__add__, events, lines)])
    full: dict[int, list[str]] = {}
    stride = 1
    while True:
        head = f"; every {stride}. position in full" if stride > 1 else ""
        text = [f"== {style} play, seed {seed}{head} =="]
        for before, number in zip([-1, *kept], kept, strict=False):
            if number - before > 1:
                text += ["", f"    ... {number - before - 1} decisions are left out ..."]
            text += events[number]
            if number % stride == 0 and not positions[number].over:
                if number not in full:
                    full[number] = list(_full(positions[number]))
                text += full[number]
            text += lines[number]
        if sum(map(len, text)) + len(text) <= _BYTES + 1 or stride > len(positions):
            return "\n".join(text)
        stride += 2  # odd: games that alternate between two decisions show both


def _kept(lines: list[list[str]]) -> list[int]:
    """Of which positions the lines fit two thirds of a transcript: of all, or of the first and the last ones."""
    sizes = [sum(map(len, part)) + len(part) for part in lines]
    middle, cut, total = len(lines) // 2, 0, sum(sizes)
    while total > _BYTES * 2 // 3 and cut < middle - 1:
        total -= sizes[middle + cut] + sizes[middle - 1 - cut]
        cut += 1
    return [number for number in range(len(lines)) if not middle - cut <= number < middle + cut]


def _line(position: Position, seed: int, style: str) -> list[str]:
    if position.over:
        return list(_end(position))
    action = pick(position, seed, style)
    count = len(position.legal_actions())
    return [
        f"[{position.decisions}] seat {position.seat}, {position.phase}, 1 of {count}: "
        f"{position.action_text(action)} ({action})"
    ]


def _full(position: Position) -> Iterator[str]:
    yield ""
    yield from (f"    {line}".rstrip() for line in position.text(ALL).splitlines())
    legal = position.legal_actions()
    texts = ", ".join(position.action_text(int(action)) for action in legal[:_SHOWN])
    yield f"    legal: {texts}" + (f" and {len(legal) - _SHOWN} more" if len(legal) > _SHOWN else "")
    yield from _seen(position)


def _seen(position: Position) -> Iterator[str]:
    for seat in range(position.num_players):
        vector = position.observe(seat)
        parts = position.game.observations.decode(vector, position.settings.values)
        counts = {name: int(np.count_nonzero(part)) for name, part in parts.items()}
        shown = ", ".join(f"{name} {count}" for name, count in counts.items() if count)
        yield f"    seat {seat} sees {hashlib.sha256(vector.tobytes()).hexdigest()[:8]}: {shown}"


def _end(position: Position) -> Iterator[str]:
    points, places = position.points(), position.places()
    rewards = Reward(DEFAULT_REWARD, position.game.spec)(np.array(points), np.array(places))
    yield ""
    yield f"    over after {position.decisions} decisions, {'at the cap' if position.capped else 'by the rules'}"
    yield from (f"    {line}".rstrip() for line in position.text(ALL).splitlines())
    yield from _seen(position)
    paid = ", ".join(f"{amount:+.3f}" for amount in rewards)
    yield f"    points {points}, places {places}, {DEFAULT_REWARD} rewards {paid}"


def playthroughs(game: Game) -> dict[str, str]:
    """File name -> text: a random and a greedy game for every number of players, and with everything changed."""
    spec = game.spec
    grid = {f"{players}p": spec.settings(players) for players in range(spec.min_players, spec.max_players + 1)}
    if spec.options:
        changed = small_grid(spec)[-1]
        grid[f"{changed.num_players}p-all_changed"] = changed
    files = {}
    for name, settings in grid.items():
        head = f"{spec.env_id}, {label(settings)}: written by {_REWRITE}, read by people"
        games = [transcript(game, settings, style) for style in (RANDOM, GREEDY)]
        files[f"{spec.env_id.replace('/', '-')}-{name}.txt"] = "\n\n\n".join([head, *games]) + "\n"
    return files


def digests(game: Game) -> dict[str, str]:
    """Settings -> digest of a few games, of long ones their first decisions: whatever an agent meets."""
    grid = quick_grid(game.spec)
    return {label(settings): public_digest(game, shortened(settings, LONG), _GAMES) for settings in grid}


# --- files ------------------------------------------------------------------------------------------------------


def write(game: Game, folder: Path) -> list[Path]:
    """Write the golden files of a game into a folder (other games' entries stay); returns their paths."""
    texts = playthroughs(game)
    (folder / TRANSCRIPTS).mkdir(parents=True, exist_ok=True)
    for old in (folder / TRANSCRIPTS).glob(f"{_stem(game)}-v*.txt"):
        if old.name not in texts:
            old.unlink()
    paths = [folder / TRANSCRIPTS / name for name in texts]
    for path, text in zip(paths, texts.values(), strict=True):
        path.write_text(text, encoding="utf-8", newline="\n")
    path = folder / DIGESTS
    everything = _read(path)
    everything.setdefault(game.spec.id, {})[KEY] = {"version": game.spec.version, "digests": digests(game)}
    path.write_text(json.dumps(everything, indent=1, sort_keys=True) + "\n", encoding="utf-8", newline="\n")
    return [*paths, path]


def _stem(game: Game) -> str:
    return game.spec.env_id.replace("/", "-").rpartition("-v")[0]


def _read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def golden_files(subject: Subject) -> str:
    """Digests and transcripts are those that are stored for this version of the game."""
    if subject.golden is None:
        return "no golden files to compare with"
    game, spec = subject.game, subject.game.spec
    stored = _read(subject.golden / DIGESTS).get(spec.id, {}).get(KEY)
    if stored is None or stored["version"] != spec.version:
        fail(spec.id, f"no digests are stored for version {spec.version}: run {_REWRITE} and review the diff")
    changed = f"raise GAME.version if version {spec.version} is published, run {_REWRITE} and review the diff"
    for name, digest in digests(game).items():
        if stored["digests"].get(name) != digest:
            fail(spec.id, f"games with {name} are no longer what they were: {changed}")
    texts = playthroughs(game)
    for name, text in texts.items():
        path = subject.golden / TRANSCRIPTS / name
        if not path.exists():
            fail(spec.id, f"the transcript {name} is missing: run {_REWRITE}")
        kept = path.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(text.splitlines()):
            if number >= len(kept) or kept[number] != line:
                fail(spec.id, f"{name} differs in line {number + 1}, now {line.strip()!r}: {changed}")
        if len(kept) != len(text.splitlines()):
            fail(spec.id, f"{name} has {len(kept)} lines, now {len(text.splitlines())}: {changed}")
    return f"{len(stored['digests'])} digests, {len(texts)} transcripts"
