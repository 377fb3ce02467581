"""Compile everything that play needs, so that the cache holds it. Call it before worker processes start."""

from __future__ import annotations

import numpy as np

from tabletop_envs.core import loops
from tabletop_envs.core.game import Game


def warm_up(game: Game) -> None:
    """Run every compiled loop once on a small batch of the game."""
    settings = game.settings()
    template = game.template(settings)
    states = np.repeat(template, 2)
    masks = np.zeros((2, game.num_actions(settings)), dtype=np.int8)
    outs = np.zeros((2, game.observation_size(settings)), dtype=np.float32)
    points = np.zeros((2, settings.num_players), dtype=np.int32)
    places = points.copy()
    rows, keys, seats = np.arange(2), np.arange(2), np.zeros(2, dtype=np.int64)
    calls = game.calls

    loops.start(calls, states[:1].copy(), 0, masks[0])
    loops.episode_keys(0, rows, rows.copy(), keys)
    loops.deal_batch(calls, template, states, rows, keys, masks)
    loops.legal(calls, states, 0, masks[0])
    actions = masks.argmax(axis=1)
    loops.first_illegal(masks, rows, actions)
    spare = states.copy()
    spare_masks = masks.copy()
    loops.step(calls, spare, 0, actions[0], spare_masks[0])
    loops.step_observed(calls, spare, 1, actions[1], spare_masks[1], outs[1])
    loops.step_batch(calls, states, rows, actions, masks)
    loops.observe(calls, states, 0, 0, outs[0])
    loops.observe_batch(calls, states, rows, seats, outs)
    loops.refresh(calls, states, 0, masks[0])
    loops.greedy(game.greedy_call, states, 0, masks[0], 1)
    loops.determinize(calls, spare, 0, 0, 1)
    loops.check(game.check_call, states, 0)
    loops.random_batch(calls, template, states, masks, outs, 1, 2)
    policies = np.zeros((2, settings.num_players), dtype=np.int64)
    loops.deal_batch(calls, template, states, rows, keys, masks)
    recorded = np.zeros((2, settings.values["max_decisions"]), dtype=np.int64)
    loops.answer_recorded(calls, game.greedy_call, states, rows, policies, policies + 1, masks, recorded, seats.copy())
    loops.deal_batch(calls, template, states, rows, keys, masks)
    loops.answer_batch(calls, game.greedy_call, states, rows, seats - 1, policies, keys, masks)
    loops.score(calls, states, 0, points[0], places[0])
    loops.score_batch(calls, states, rows, points, places)
    loops.play_out(calls, game.greedy_call, spare, 0, masks[0], loops.RANDOM_POLICY, 1)
    loops.deal(calls, template, spare, 0, 1, masks[0])
    made = loops.play_recorded(calls, game.greedy_call, spare, 0, masks[0], policies[0], 0, 1, recorded[0])
    loops.deal(calls, template, spare, 0, 1, masks[0])
    loops.replay(calls, spare, 0, recorded[0, :made], masks[0])
