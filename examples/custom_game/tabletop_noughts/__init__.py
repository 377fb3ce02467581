"""Noughts and crosses: two players, nine cells, three in line.

Action space:

| indices | size | block | meaning |
| --- | --- | --- | --- |
| 0..8 | 9 | `mark` | mark a cell (R2) |

Observation space:

| indices | size | block | meaning |
| --- | --- | --- | --- |
| 0..17 | 18 | `marks` | own, then other marks: 0/1 (R2) |
| 18 | 1 | `to_act` | 1 if the observer is to act (R2) |

The tables are `ACTIONS.markdown()` and `OBSERVATIONS.markdown()`; the conformance suite asks for them. This file
declares the game and imports nothing that is compiled, so that listing games stays quick.
"""

from tabletop_envs.core.spec import Flag, GameSpec

GAME = GameSpec(
    id="noughts",
    version=0,  # raise it whenever trajectories, layouts or rewards change
    title="Noughts and crosses",
    summary="Two players mark cells; three marks in line win.",
    package=__name__,
    min_players=2,
    max_players=2,
    max_decisions={2: 9},  # by number of players; the rules end every game by then
    score_scale=1,  # the margin of points that counts as a full win with reward="score"
    opening_decisions=1,  # without chance: how many first decisions an arena draws, so that games differ
    options=(Flag("misere", "R4", "three in line lose"),),
)
