"""Checks that need another Python process: what an import loads, and whether the modes of the JIT agree."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from typing import Final

import numpy as np

from tabletop_envs.core import jit, loops
from tabletop_envs.core.game import Game
from tabletop_envs.core.position import Position
from tabletop_envs.core.spec import Settings
from tabletop_envs.testing.subject import RANDOM, Subject, fail, label, shortened, small_grid, walk

_HEAVY: Final = ("numba", "torch", "llvmlite", "matplotlib", "stable_baselines3")
_GAMES: Final = 2
_DEAR: Final = 16  # every so many decisions the slow invariants are part of a digest
_LONGEST: Final = 120  # decisions of a game that all modes play: plain Python takes its time
_LIMIT: Final = 600  # seconds that another process may take


def light_import(subject: Subject) -> str:
    """Importing the declaration loads no compiled code."""
    package = subject.game.spec.package
    code = f"import sys, {package}; print([m for m in {_HEAVY!r} if m in sys.modules])"
    loaded = _run(jit.MODE, "-c", code).communicate()[0].strip()
    if loaded != "[]":
        fail(package, f"importing it loads {loaded or 'nothing, but fails'}: keep these imports out of __init__.py")
    return ""


def modes_agree(subject: Subject) -> str:
    """Compiled, bounds-checked and plain Python play the same games to the byte, without overflow."""
    arguments = ["-W", "error::RuntimeWarning", "-m", "tabletop_envs.testing", "digest", subject.game.spec.package]
    others = {mode: _run(mode, *arguments) for mode in jit.MODES if mode != jit.MODE}
    mine = mode_digests(subject.game)
    for mode, process in others.items():
        output, errors = process.communicate(timeout=_LIMIT)
        if process.returncode:
            fail(subject.game.spec.id, f"with TABLETOP_ENVS_JIT={mode} a game breaks off:\n{errors.strip()[-1500:]}")
        theirs = output.split("\n")
        for number, line in enumerate(mine):
            if line != theirs[number]:
                fail(
                    subject.game.spec.id,
                    f"TABLETOP_ENVS_JIT={jit.MODE} plays {line}, but {mode} plays {theirs[number]}",
                )
    return f"{jit.MODE} = {' = '.join(others)}, {len(mine)} games"


def _run(mode: str, *arguments: str) -> subprocess.Popen[str]:
    path = os.pathsep.join(part for part in sys.path if part)
    env = {**os.environ, "TABLETOP_ENVS_JIT": mode, "PYTHONPATH": path}
    command = [sys.executable, *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)


# --- digests ----------------------------------------------------------------------------------------------------


def mode_digests(game: Game) -> list[str]:
    """A line a game, of every byte of it: what `modes_agree` compares."""
    lines = []
    for whole in small_grid(game.spec):
        settings = shortened(whole, _LONGEST)
        for seed in range(_GAMES):
            lines.append(f"{label(settings)}, seed {seed}: {_digest(game, settings, seed, whole=True)}")
    return lines


def public_digest(game: Game, settings: Settings, games: int) -> str:
    """16 hex digits of what agents meet: seats, masks, observations, points and places of some games."""
    # random play: how the baseline plays is no part of what a game is
    digests = [_digest(game, settings, seed, RANDOM) for seed in range(games)]
    return hashlib.sha256("".join(digests).encode()).hexdigest()[:16]


def _digest(game: Game, settings: Settings, seed: int, style: str | None = None, *, whole: bool = False) -> str:
    digest = hashlib.sha256()
    for position in walk(game, settings, seed, style):
        seat = -1 if position.seat is None else position.seat
        digest.update(repr((seat, position.over, position.capped, position.points(), position.places())).encode())
        digest.update(position.action_mask().tobytes())
        for viewer in range(position.num_players):
            digest.update(position.observe(viewer).tobytes())
        if whole:
            digest.update(_whole(position, seat))
    return digest.hexdigest()[:16]


def _whole(position: Position, seat: int) -> bytes:
    parts = [position.to_bytes(), repr(position.events()).encode()]
    if seat >= 0:
        parts.append(bytes(str(position.greedy_action(position.decisions)), "ascii"))
        parts.append(position.determinize(position.num_players - 1, position.decisions).to_bytes())
    if position.over or position.decisions % _DEAR == 0:
        code = loops.check(position.game.check_call, position.states, 0)
        accepted, scratch = (
            np.zeros(position.game.num_actions(position.settings), dtype=np.int8),
            np.empty(1, dtype=position.game.dtype),
        )
        if seat >= 0:
            loops.accepted(position.game.calls, position.states, 0, scratch, accepted)
        parts += [bytes(str(int(code)), "ascii"), accepted.tobytes()]
    return b"".join(parts)
