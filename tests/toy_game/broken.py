"""Toy's compiled functions, each with one fault, for the tests of the conformance suite; no part of the game."""

from __future__ import annotations

import numpy as np

from tabletop_envs.core.jit import jit
from tabletop_envs.core.random import POLICY, rekey, word
from toy_game import bot, rules, state, view
from toy_game.actions import PASS, PLAY, TAKE
from toy_game.state import Phase
from toy_game.tables import KINDS

SLOW = 100_000  # hashes


@jit
def setup_lifts_cap(s):
    """The game gives itself more decisions than its settings allow."""
    rules.setup(s)
    s.max_decisions += 100


@jit
def setup_without_chance(s):
    """The same deal for every key."""
    key = s.key
    s.key = 0
    rules.setup(s)
    s.key = key


@jit
def legal_forgets_pass(s, mask):
    """A legal action is missing."""
    count = rules.legal(s, mask)
    if s.phase == Phase.PLAY and count > 1:
        mask[PASS] = 0
        count -= 1
    return count


@jit
def legal_finds_nothing(s, mask):
    """A seat is asked that has no choice."""
    mask[:] = 0
    return 0


@jit
def legal_miscounts(s, mask):
    """The number is not that of the mask."""
    return rules.legal(s, mask) + 1


@jit
def legal_writes_part(s, mask):
    """Entries of the mask are left as they were."""
    if s.phase != Phase.PLAY:
        return rules.legal(s, mask)
    count = 1
    mask[PASS] = 1
    for kind in range(KINDS):
        mask[PLAY + kind] = s.hands[s.seat, kind] > 0
        count += mask[PLAY + kind]
    return count


@jit
def legal_never_all(s, mask):
    """Taking four is never possible, and `apply_never_all` agrees."""
    count = rules.legal(s, mask)
    if mask[TAKE + 3] > 0:
        mask[TAKE + 3] = 0
        count -= 1
    return count


@jit
def apply_never_all(s, action):
    """See `legal_never_all`."""
    assert action != TAKE + 3, "four are never taken"
    rules.apply(s, action)


@jit
def apply_loses_card(s, action):
    """A played card is gone."""
    seat = int(s.seat)
    rules.apply(s, action)
    s.chosen[seat] = -1


@jit
def apply_overtakes(s, action):
    """A count leaves its range, but no invariant is broken."""
    rules.apply(s, action)
    s.turn += 40 * (s.phase == Phase.DRAW)


@jit
def advance_never_ends(s):
    """The game stands still."""


@jit
def advance_by_global_chance(s):
    """Chance that does not live in the record."""
    rules.advance(s)
    if np.random.randint(0, 2) == 0:
        s.draws[7] += 1


@jit
def score_wrong_places(s, points, places):
    """Everybody is first."""
    rules.score(s, points, places)
    places[:] = 1


@jit
def score_writes_part(s, points, places):
    """The last seat's entry is left as it was."""
    kept = points[-1]
    rules.score(s, points, places)
    points[-1] = kept


@jit
def observe_peeks(s, seat, out):
    """A seat sees a card of the next one."""
    view.observe(s, seat, out)
    out[0] = s.hands[(seat + 1) % int(s.num_players), 0] / 4


@jit
def observe_writes_part(s, seat, out):
    """An entry is left as it was."""
    kept = out[3]
    view.observe(s, seat, out)
    out[3] = kept


@jit
def observe_too_high(s, seat, out):
    """Values above 1."""
    view.observe(s, seat, out)
    out[0] *= 2


@jit
def observe_slowly(s, seat, out):
    """Much ado about nothing."""
    drawn = seat
    for number in range(SLOW):
        drawn = word(drawn, POLICY, number)
    view.observe(s, seat, out)
    out[0] = drawn % 2


@jit
def determinize_keeps_all(s, seat, salt):
    """Nothing is dealt anew."""
    rekey(s, salt)


@jit
def determinize_keeps_key(s, seat, salt):
    """The future stays what it was."""
    key = s.key
    view.determinize(s, seat, salt)
    s.key = key


@jit
def determinize_loses_card(s, seat, salt):
    """What comes out is no position of the game."""
    view.determinize(s, seat, salt)
    s.deck[0] = 0


@jit
def determinize_changes_own(s, seat, salt):
    """A seat's own cards change."""
    view.determinize(s, seat, salt)
    other = (seat + 1) % int(s.num_players)
    for kind in range(KINDS):
        kept = s.hands[seat, kind]
        s.hands[seat, kind] = s.hands[other, kind]
        s.hands[other, kind] = kept


@jit
def greedy_peeks(s, mask, salt):
    """A choice by the card on the next seat's hand."""
    if s.phase == Phase.PLAY and s.hands[(int(s.seat) + 1) % int(s.num_players), 0] > 0:
        return PASS
    return bot.greedy(s, mask, salt)


@jit
def greedy_cheats(s, mask, salt):
    """A choice that is not legal."""
    return TAKE if s.phase == Phase.PLAY else PASS


@jit
def check_complains(s):
    """An invariant that does not hold."""
    return 2 if s.phase == Phase.TAKE else state.check(s)
