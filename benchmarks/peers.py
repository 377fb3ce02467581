"""Games of other libraries, played the way the neighbouring figures of `tabletop_envs.bench` play ours.

A figure here has the name of the one of ours that it may be set against. A library that is not installed raises
ImportError when it is measured.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from tabletop_envs.bench import AEC_LOOP, DECISIONS, OBSERVED_LOOP, SINGLE_LOOP, Figure, Rate, aec_rate, rate

PETTINGZOO = ("connect_four_v3", "chess_v6")
OPEN_SPIEL = ("hex", "chess", "quoridor")


class Peer(NamedTuple):
    """A game of another library. install: what pip is given, beside what `tabletop_envs` needs."""

    name: str
    install: str
    measure: Callable[[float], list[Figure]]


def pettingzoo_figures(module: str, seconds: float) -> list[Figure]:
    """The environment that env() hands out, its wrappers included."""
    env = import_module(f"pettingzoo.classic.{module}").env()
    return [aec_rate(env, seconds).figure(AEC_LOOP, DECISIONS, note="as handed out by env(), our sampling code")]


def open_spiel_rate(game: Any, observer: Any, seconds: float) -> Rate:
    """Decisions of one game from Python; with an observer also mask and observation of the seat to act."""
    random = np.random.default_rng(0).random

    def plain() -> int:
        state, made = game.new_initial_state(), 0
        while not state.is_terminal():
            legal = state.legal_actions()
            state.apply_action(legal[int(random() * len(legal))])
            made += 1
        return made

    def observed() -> int:
        state, made = game.new_initial_state(), 0
        while not state.is_terminal():
            observer.set_from(state, state.current_player())
            state.legal_actions_mask()
            legal = state.legal_actions()
            state.apply_action(legal[int(random() * len(legal))])
            made += 1
        return made

    return rate(plain if observer is None else observed, seconds)


def open_spiel_figures(name: str, seconds: float) -> list[Figure]:
    """A game without chance, with its default number of players."""
    pyspiel = import_module("pyspiel")
    make_observation = import_module("open_spiel.python.observation").make_observation
    game = pyspiel.load_game(name)
    kind = game.get_type()
    tensor = "observation tensor" if kind.provides_observation_tensor else "information state tensor"
    iig = None if kind.provides_observation_tensor else pyspiel.IIGObservationType(perfect_recall=True)
    observer = make_observation(game) if iig is None else make_observation(game, iig)
    return [
        open_spiel_rate(game, None, seconds).figure(
            SINGLE_LOOP, DECISIONS, note="legal_actions and apply_action, no mask"
        ),
        open_spiel_rate(game, observer, seconds).figure(
            OBSERVED_LOOP,
            DECISIONS,
            note=f"also legal_actions_mask, and the {tensor} by its observer",
        ),
    ]


def peers() -> list[Peer]:
    """All that can be measured when it is installed."""
    found = [Peer(f"PettingZoo {name}", "pygame chess", partial(pettingzoo_figures, name)) for name in PETTINGZOO]
    found += [Peer(f"OpenSpiel {name}", "open_spiel", partial(open_spiel_figures, name)) for name in OPEN_SPIEL]
    return found
