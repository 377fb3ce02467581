"""Two moves: a game of one decision for each of two seats, of which the second alone decides who wins.

Action space:

| indices | size | block | meaning |
| --- | --- | --- | --- |
| 0..1 | 2 | `name` | name seat 0, seat 1 (R1, R2) |

Observation space:

| indices | size | block | meaning |
| --- | --- | --- | --- |
| 0 | 1 | `last` | 1 for seat 1 as observer |
| 1..3 | 3 | `named` | one-hot: seat 0 has named nobody, seat 0, seat 1 (R1) |
"""

from tabletop_envs.core.spec import GameSpec

GAME = GameSpec(
    id="two_moves",
    version=0,
    title="Two moves",
    summary="Seat 0 moves, then seat 1 decides who wins.",
    package=__name__,
    min_players=2,
    max_players=2,
    max_decisions={2: 2},
    score_scale=1,
    auto_forced=False,
    opening_decisions=1,
)
