"""A board with agents of every kind, good and bad, for the tests of the arena."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tabletop_envs import registry
from tabletop_envs.arena import schedule as schedules
from tabletop_envs.arena.schedule import Lineup, Schedule, lineup
from tabletop_envs.core.game import Game

CODE = '''
import os
import time
from pathlib import Path

import numpy as np


class Last:
    """Takes the last legal action; `bad` says what it does instead at its third decision."""

    name = "last"

    def __init__(self, folder, bad=None):
        self.folder, self.bad, self.asked = folder, bad, 0
        self.log = []

    def reset(self, seat, seed):
        self.log.append((seat, seed))
        if self.bad == "reset":
            raise RuntimeError("no reset")

    def choose(self, view):
        self.asked += 1
        legal = view.legal_actions()
        # a View tells how far the game is: a stateless agent fails by it
        if self.bad is None or view.decisions < 3:
            return int(legal[-1])
        return self.fail(view, legal)

    def fail(self, view, legal):
        once = Path(self.folder) / "failed"
        if self.bad == "raise":
            raise ValueError("lost\\nmy way")
        if self.bad == "raise once" and not once.exists():
            once.touch()
            raise ValueError("lost my connection")
        if self.bad == "exit":
            raise SystemExit(3)
        if self.bad == "die" and view.seat == 0:
            os._exit(7)
        if self.bad == "die once" and not once.exists():
            once.touch()
            os._exit(7)
        if self.bad == "hang" and view.seat == 0:
            time.sleep(1000)
        if self.bad == "hang once" and not once.exists():
            once.touch()
            time.sleep(1000)
        if self.bad == "illegal":
            return int(np.flatnonzero(view.action_mask == 0)[0])
        answers = {"outside": 99, "negative": -1, "none": None, "text": "pass", "real": 1.5}
        return answers.get(self.bad, int(legal[-1]))


class Batch:
    """The same as a batch policy."""

    name = "batch"

    def __init__(self, bad=None):
        self.bad, self.most = bad, 0

    def act(self, observations, action_masks):
        self.most = max(self.most, len(observations))
        last = action_masks.shape[1] - 1 - action_masks[:, ::-1].argmax(axis=1)
        few = action_masks.sum(axis=1) == 4
        if self.bad == "raise" and few.any():
            raise ValueError("four are too many")
        if self.bad == "illegal":
            last[few] = 99
        if self.bad == "shape":
            return last[None]
        if self.bad == "real":
            return last.astype(float)
        return last


class Moody:
    """Chooses by what it remembers of its own game."""

    name = "moody"

    def __init__(self, seed):
        self.seed, self.asked = seed, 0

    def choose(self, view):
        self.asked += 1
        legal = view.legal_actions()
        return int(legal[(self.seed + self.asked) % len(legal)])


class Search:
    """Counts more simulations than it should, at its later decisions."""

    name = "search"

    def __init__(self):
        self.simulations_made = 0

    def choose(self, view):
        self.simulations_made += 10 + (view.decisions > 3)
        return int(view.legal_actions()[0])


def last(game, folder, seed):
    return Last(folder)


def bad(kind):
    def make(game, folder, seed):
        return Last(folder, kind)
    return make


def __getattr__(name):
    if name.startswith("batch"):
        return lambda game, folder, seed: Batch(name.partition("_")[2] or None)
    if name.startswith("bad_"):
        return bad(name[4:].replace("_", " "))
    raise AttributeError(name)


def moody(game, folder, seed):
    return Moody(seed)


def search(game, folder, seed):
    return Search()


def uncounted(game, folder, seed):
    return Last(folder)


def nothing(game, folder, seed):
    return None


def unmade(game, folder, seed):
    raise KeyError("weights")


def unready(game, folder, seed):
    time.sleep(1000)
'''

INSTANT = {"kind": "instant"}


class Board:
    """A board for one game in a folder."""

    def __init__(self, root: Path, game: Game) -> None:
        self.root, self.game = root, game

    def add(self, name: str, make: str | None = None, /, **changes: Any) -> None:
        """Add an agent: of the file of this module, or a built-in one of its own name."""
        folder = self.root / "agents" / name
        folder.mkdir(parents=True, exist_ok=True)
        entry: dict[str, Any] = {"file": "agent.py", "make": make}
        if make is None:
            entry = {"builtin": name.replace("-", ":"), **({"arguments": {"reuse": False}} if "-" in name else {})}
        else:
            (folder / "agent.py").write_text(CODE, encoding="utf-8")
        simulations = int(name.partition("-")[2]) if make is None and "-" in name else None
        budget = INSTANT if simulations is None else {"kind": "search", "simulations": simulations}
        spec = self.game.spec
        content = {
            "schema": 1,
            "name": name,
            "version": "1",
            "authors": ["us"],
            "kind": "policy",
            "entry": entry,
            "games": {f"{spec.id}-v{spec.version}": list(range(spec.min_players, spec.max_players + 1))},
            "weights": None,
            "code_sha256": None,
            "deterministic": True,
            "stateless": True,
            "budget": budget,
            "training": None,
            "licence": "MIT",
            "packages": {},
            **changes,
        }
        (folder / "agent.json").write_text(json.dumps(content), encoding="utf-8")

    def schedule(self, *lineups: Lineup | list[str], tables: int = 3, players: int = 2, **options: Any) -> Schedule:
        """A schedule of these line-ups."""
        settings = self.game.settings(players, **options)
        made = [entry if isinstance(entry, Lineup) else lineup(entry, tables) for entry in lineups]
        first = schedules.new(self.game, settings, "2026-1", ["random"], 1)
        return Schedule(first.season, first.game, players, first.options, first.rules, tuple(made))

    def season(self, *lineups: Lineup | list[str], tables: int = 3, players: int = 2, **options: Any) -> Path:
        """The folder of a season of these line-ups, with its schedule."""
        made = self.schedule(*lineups, tables=tables, players=players, **options)
        folder = schedules.season_folder(self.root, made)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "schedule.json").write_text(made.text(), encoding="utf-8")
        return folder


def main(folder: str) -> None:
    """Play a season of the toy game in this process: what tests kill."""
    from toy_game import GAME

    from tabletop_envs.arena.play import play

    registry.add(GAME)
    print("begun", flush=True)
    play(Path(folder), processes=1, on_progress=lambda progress: print(progress.done, flush=True))


if __name__ == "__main__":
    import sys

    main(sys.argv[1])
