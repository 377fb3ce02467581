"""Toy: a small game with everything that board games have, for the tests of the machinery (RULES.md).

Action space:

| indices | size | block | meaning |
| --- | --- | --- | --- |
| 0..3 | 4 | `play` | play a one, two, three, four face down (R2.1) |
| 4 | 1 | `pass` | play no card (R2.1) |
| 5..8 | 4 | `take` | take 1, 2, 3, 4 stones (R2.3) |
| at the end | 1 | `leave` | take no stone (R4.3); only with option `leave` |

Observation space:

| indices | size | block | meaning |
| --- | --- | --- | --- |
| 0..3 | 4 | `hand` | own ones, twos, threes, fours, /4, at most 1 (R1.3) |
| 4..7 | 4 | `chosen` | one-hot: own card face down (R2.1) |
| 8..11 | 4 | `sizes` | cards held by self, then in seat order, /4, at most 1 (R1.3) |
| 12..15 | 4 | `committed` | 1 for a seat that has played or passed, self first (R2.1) |
| 16..19 | 4 | `taken` | stones taken, self first, /30, at most 1 (R2.3) |
| 20 | 1 | `stones` | stones in the heap, /30, at most 1 (R1.1) |
| 21 | 1 | `deck` | cards in the deck, /41 (R1.2) |
| 22 | 1 | `limit` | value of the card that won, /4 (R2.3) |
| 23..26 | 4 | `starter` | one-hot: who started the round, self first (R1.4) |
| 27..30 | 4 | `to_act` | one-hot: who is to act, self first; all 0 when over |
| 31..34 | 4 | `players` | one-hot: how many seats there are |
| at the end | 4 | `discard` | ones, twos, threes, fours shown so far, /41 (R4.2); only with option `memory` |
"""

from tabletop_envs.core.spec import Choice, Counts, Flag, GameSpec, Integer, Subset

GAME = GameSpec(
    id="toy",
    version=0,
    title="Toy",
    summary="Two to four seats play cards face down for the right to take stones from a heap.",
    package=__name__,
    min_players=2,
    max_players=4,
    max_decisions={2: 40, 3: 60, 4: 80},  # R4.1
    score_scale=6,
    options=(
        Flag("memory", "R4.2", "the discard is part of the observation"),
        Flag("leave", "R4.3", "who may take stones may also leave them"),
        Integer("heap", "R1.1", "stones at the start", 12, 4, 30),
        Choice("tie", "R2.2", "who wins among equal highest cards", ("nobody", "first")),
        Subset("extras", "R1.2, R2.4", "a card of value 4, a heap that grows", ("joker", "refill")),
        Counts("cards", "R1.2", "ones, twos and threes in the deck", ("one", "two", "three"), (5, 4, 3), 8, 40),
    ),
)
