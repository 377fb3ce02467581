"""Umbra Via: two to four players bid flowers in secret for path tiles, and complete paths to win back their souls.

| | |
| --- | --- |
| Creation | `tabletop_envs.make("umbra_via", num_players=3)`, `umbra_via_v0.env()`, `pettingzoo.make("aec", "tabletop/umbra_via-v0")`, `gymnasium.make("tabletop/UmbraVia-v0")` |
| Actions | discrete, masked |
| Parallel API | turn-based view: `tabletop_envs.make_parallel("umbra_via")`, `umbra_via_v0.parallel_env()`, `pettingzoo.make("parallel", "tabletop/umbra_via-v0")` |
| Manual control | `tabletop-envs play umbra_via` |
| Agents | `player_0`, `player_1`, with more players `player_2`, `player_3` |
| Number of agents | 2 to 4 |
| Action shape | `(1,)` |
| Action values | `Discrete(21)` |
| Observation shape | `(319,)` |
| Observation values | `[0, 1]`, float32 |
| State shape | the observations of all seats: `(638,)` with 2, `(957,)` with 3, `(1276,)` with 4 players |
| State values | `[0, 1]`, float32 |

## Description

Each player has a bag of energy and soul flowers; eleven more souls lie on the player's soul tile and have to be won back. In
a round four path tiles are revealed on an altar. Twice everybody draws three flowers at random and bids them all, in
secret, on these tiles; an energy counts 1, a soul 2. The tiles are then resolved one by one, those with fewest flowers
first: souls on the tile leave the game, and the highest bidder lays the tile with all the energy on it on a shared board
of 4 x 4 cells. A path is complete when none of its ends leads to an empty cell. Then the player with most energy on it
takes as many souls as the path has tiles, the second half as many, and so on; energy and tiles of the path go back. The
first with 13 claims wins. There is chance (tiles, orientations, draws), and hands and pending bids are hidden until
the last seat has bid. The rules in numbered clauses, with the rulings on what the printed ones leave open, are in
`RULES.md` beside this file.

## Observation space

A dictionary of `observation` and `action_mask`; the mask is in the infos instead with `mask_in="info"`. The vector is
the same for every number of players: seats stand in their order from the observer on, and those that are not in play are
0. Of what the others have drawn and bid face down it holds nothing but the sum with their bags (the pool). Cells run
from left to right and then from top to bottom.

| indices | size | block | meaning |
| --- | --- | --- | --- |
| 0..159 | 160 | `board` | planes: tile present, open N, E, S, W, is four-point; energy of self, then in seat order, /12, at most 1 (O1) |
| 160..243 | 84 | `altar` | a slot: tile present, open N, E, S, W, is four-point, is void, is block; revealed energy, then souls, of self, then in seat order, /6; its order counter one-hot; 1 while its winner decides (O1) |
| 244..251 | 8 | `own_pending` | a slot: own souls, energy bid there face down, /3 (O1) |
| 252..253 | 2 | `own_hand` | own souls, energy still to be bid, /3 (O1) |
| 254..293 | 40 | `players` | self, then in seat order: in play; claims /28, at most 1; flowers left on the soul tile /11; energy /32, souls /17 in the pool; souls removed /17; place on the track one-hot (O1) |
| 294..298 | 5 | `phase` | one-hot: bid1, bid2, place, four-point target, void target; all 0 when over (O1) |
| 299..310 | 12 | `tile_census` | straight, bend, tee, four-point, void, block in the stack, then on the discard pile, /20, at most 1 (O1) |
| 311..318 | 8 | `globals` | round / max_rounds; one-hot: 2, 3, 4 players; victory target /28, at most 1; four-point, void, block in use (O1) |

## Legal-action mask

`action_mask` holds 21 int8 entries, 1 for a legal action of the seat to act; for other seats, and when the game is over,
all are 0. A bid may go to any tile but the block tile: mostly 4 slots, at least 1. A tile goes to one of the four central
cells of an empty board, otherwise to an empty cell beside a tile. An illegal action
is met as `illegal` says.

## Action space

Bids are small decisions: one flower at a time, souls first, so that the asked flower follows from the own hand. What a
seat bids is not told to the others (`secret`); the three uses of a cell are three phases.

| indices | size | block | meaning |
| --- | --- | --- | --- |
| 0..3 | 4 | `bid` | bid the asked flower on slot I, II, III, IV (R4.4) |
| 4..19 | 16 | `cell` | where the tile, the flowers of the void tile or of the four-point tile go (R6.1) |
| 20 | 1 | `decline` | leave the flowers on the four-point tile (R10.2) |

## Rewards

All at the end of the game. `reward="win"`, the default, pays +1 to the winner and -1 / (n - 1) to each other player.
`reward="score"` pays the margin of points divided by 3, a usual one between good players, within -1..1. Points are
claims, at most the victory target; places are never shared.

## Options

| option | default | meaning |
| --- | --- | --- |
| `special_tiles` | `()` | which of four_point, void, block are in the stack (R10.1) |
| `victory_target` | 13 | claims that win (R9.2) |
| `summon_ties` | `'track_move'` | how equal sums are ranked in a summoning: track_move, track_static, friendly (R8.5) |
| `tile_mix` | `{'straight': 6, 'bend': 6, 'tee': 5}` | regular tiles in the stack, 1 to 60 (R1.3) |
| `max_rounds` | 150 | the game is scored as it stands after so many rounds (R9.5) |
| `auto_forced` | `True` | decisions with one legal option are made unasked (D7) |
| `max_decisions` | 2550 | the game is scored as it stands at this cap; 3450 with 3, 4350 with 4 players (L2) |

## Termination

The game ends when somebody reaches the victory target (R9.3), when nobody can bid any more (R9.5), or after `max_rounds`
rounds; at the last it counts as cut, so that both `terminated` and `truncated` are true. Random play takes 7 to 9 rounds:
about 112, 178 and 261 decisions with 2, 3 and 4 players, and never came near the caps.

## Baseline

The greedy baseline (`bot.py`) looks one placement ahead and bids where most is at stake. Against uniformly random play it
wins 94 % of its games with 2 players; one greedy seat among random ones wins 81 % with 3 and 85 % with 4 players.

## Version history

* v0: first release
"""  # noqa: E501 (rows of the tables)

from tabletop_envs.core.spec import Choice, Counts, GameSpec, Integer, Subset

GAME = GameSpec(
    id="umbra_via",
    version=0,
    title="Umbra Via",
    summary="Two to four players bid flowers in secret for path tiles, and complete paths to win back their souls.",
    package=__name__,
    min_players=2,
    max_players=4,
    max_decisions={2: 2550, 3: 3450, 4: 4350},  # L2
    score_scale=3,  # a little above the mean margin between greedy players, 2.1 to 2.3
    playout="greedy",
    playout_decisions=20,
    options=(
        Subset(
            "special_tiles",
            "R10.1",
            "which of four_point, void, block are in the stack",
            ("four_point", "void", "block"),
        ),
        Integer("victory_target", "R9.2", "claims that win", 13, 1),
        Choice(
            "summon_ties",
            "R8.5",
            "how equal sums are ranked in a summoning",
            ("track_move", "track_static", "friendly"),
        ),
        Counts("tile_mix", "R1.3", "regular tiles in the stack", ("straight", "bend", "tee"), (6, 6, 5), 1, 60),
        Integer("max_rounds", "R9.5", "the game is scored as it stands after so many rounds", 150, 1, 150),
    ),
)
