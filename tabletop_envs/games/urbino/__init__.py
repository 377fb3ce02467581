"""Urbino: two players, two shared architects, and one city whose districts change hands.

| | |
| --- | --- |
| Creation | `tabletop_envs.make("urbino")`, `urbino_v0.env()`, `pettingzoo.make("aec", "tabletop/urbino-v0")`, `gymnasium.make("tabletop/Urbino-v0")` |
| Actions | discrete, masked |
| Parallel API | turn-based view: `tabletop_envs.make_parallel("urbino")`, `urbino_v0.parallel_env()`, `pettingzoo.make("parallel", "tabletop/urbino-v0")` |
| Manual control | `tabletop-envs play urbino` |
| Agents | `player_0` (Brown), `player_1` (White) |
| Number of agents | 2 |
| Action shape | `(1,)` |
| Action values | `Discrete(408)` |
| Observation shape | `(661,)`; `(1228,)` with option `build_planes` |
| Observation values | `[0, 1]`, float32 |
| State shape | `(1322,)`: the observations of both seats; `(2456,)` with option `build_planes` |
| State values | `[0, 1]`, float32 |

## Description

Brown and White set one neutral architect each on an empty 9 x 9 board, and Brown says who builds first. In a turn a
player may relocate one of the two architects to any free cell, and must then build a house (1), a palace (2) or a
tower (3) on a lot: a free cell that both architects see along row, column or diagonal. Buildings that touch form a
district, in which no colour may have two blocks that do not touch; towers may not adjoin towers, nor palaces palaces.
At the end the player with the higher total in a district of both colours scores that total. There is no chance and
nothing is hidden. The rules in numbered clauses, with the rulings on what the printed ones leave open, are in
`RULES.md` beside this file.

## Observation space

A dictionary of `observation` and `action_mask`; the mask is in the infos instead with `mask_in="info"`. Both seats see
the same facts, each from its own side: "own" is the colour of the observer. Cells run from left to right and then
from top to bottom, index = 9 * row + column.

| indices | size | block | meaning |
| --- | --- | --- | --- |
| 0..485 | 486 | `buildings` | own, then opponent's houses, palaces, towers: 0/1 (R12.1) |
| 486..647 | 162 | `architects` | architect 0, architect 1: 0/1 (R12.1) |
| 648..653 | 6 | `supply` | own, then opponent's unbuilt houses/18, palaces/6, towers/3 (R12.1) |
| 654..657 | 4 | `phase` | one-hot: place architect, choose first, relocate, build; all 0 when over (R12.1) |
| 658 | 1 | `brown` | 1 if the observer is Brown (R12.1) |
| 659..660 | 2 | `points` | own, then opponent's score if the game ended now, /39, at most 1 (R12.1) |
| at the end | 81 | `lots` | cells that both architects see: 0/1 (R12.3); only with option `build_planes` |
| at the end | 486 | `allowed` | where own, then opponent's houses, palaces, towers could stand on a lot: 0/1 (R12.3); only with option `build_planes` |

## Legal-action mask

`action_mask` holds 408 int8 entries, 1 for a legal action of the seat to act; for the other seat, and when the game is
over, all are 0. In a `relocate` decision 1 to 157 actions are legal, in a `build` decision 1 to 36. A relocation is
legal only if the player can build after it, so no choice ends in a dead end; a player who can build after no
relocation is skipped without being asked, which the infos report. An illegal action is met as `illegal` says.

## Action space

A turn is two decisions of the same seat, `architect` or `stay` and then `build`; the first turn is a build alone.

| indices | size | block | meaning |
| --- | --- | --- | --- |
| 0..161 | 162 | `architect` | architect to cell: placement in the setup, later relocation (R4.3) |
| 162 | 1 | `stay` | leave both architects where they are (R4.1) |
| 163..405 | 243 | `build` | house, palace or tower at cell (R8.1) |
| 406..407 | 2 | `first` | Brown or White builds first (R3.3) |

## Rewards

All at the end of the game. `reward="win"`, the default, pays +1 to the winner and -1 to the loser, and 0 to both after
a draw. `reward="score"` pays the margin of points divided by 14, a usual one between good players, within -1..1.

## Options

| option | default | meaning |
| --- | --- | --- |
| `monuments` | `False` | three buildings in line can count double (R11) |
| `build_planes` | `False` | seven more observation planes: lots, and where each colour may build (R12.3) |
| `auto_forced` | `False` | decisions with one legal option are made unasked (R10.6) |
| `max_decisions` | 110 | the game is scored as it stands at this cap; the default never cuts a game short (R10.7) |

## Termination

The game ends when neither player can build after any relocation (R9.1), at the latest after 110 decisions; random
play takes 72. With a lower `max_decisions` it may be cut: then both `terminated` and `truncated` are true.

## Baseline

The greedy baseline (`bot.py`) looks one turn ahead. It wins 98 to 99 % of its games against uniformly random play.

## Version history

* v0: first release
"""  # noqa: E501 (rows of the tables)

from tabletop_envs.core.spec import Flag, GameSpec

GAME = GameSpec(
    id="urbino",
    version=0,
    title="Urbino",
    summary="Two players build houses, palaces and towers where the sight lines of two shared architects cross.",
    package=__name__,
    min_players=2,
    max_players=2,
    max_decisions={2: 110},  # R10.7
    score_scale=14,  # the mean margin between two greedy players; between random ones it is 7
    auto_forced=False,  # R10.6
    opening_decisions=2,  # both architects
    options=(
        Flag("monuments", "R11", "three buildings in line can count double"),
        Flag("build_planes", "R12.3", "seven more observation planes: lots, and where each colour may build"),
    ),
)
