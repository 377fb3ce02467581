"""The Palaces of Carrara: two to four builders, a turning market of marble, and an end that players may announce.

| | |
| --- | --- |
| Creation | `tabletop_envs.make("carrara", num_players=3)`, `carrara_v0.env()`, `pettingzoo.make("aec", "tabletop/carrara-v0")`, `gymnasium.make("tabletop/Carrara-v0")` |
| Actions | discrete, masked |
| Parallel API | turn-based view: `tabletop_envs.make_parallel("carrara")`, `carrara_v0.parallel_env()`, `pettingzoo.make("parallel", "tabletop/carrara-v0")` |
| Manual control | `tabletop-envs play carrara` |
| Agents | `player_0` (start player) to `player_3` |
| Number of agents | 2 to 4 |
| Action shape | `(1,)` |
| Action values | `Discrete(85)` |
| Observation shape | `(756,)` |
| Observation values | `[0, 1]`, float32 |
| State shape | `(1512,)`, `(2268,)`, `(3024,)` for 2, 3, 4 players: the observations of all seats |
| State values | `[0, 1]`, float32 |

## Description

In a turn a player buys bricks, builds or scores. Who buys turns the wheel of the market, on which every brick becomes
cheaper from segment to segment, and takes bricks from one segment. Buildings of six types go into six cities: those
that accept only fine bricks pay more for each point of cost. A building pays nothing until it is scored, by its type
(once for each player) or by its city (once in the whole game), in points or coins, and with an object for each
building; each player has six markers for that. The game ends when the tiles are used up, or when a player who meets
three objectives announces it, and all seats have had the same number of turns. Coins, bricks and objects are kept
behind screens, but change in the open only. Four modules may be added, alone or together: buying without a turn of the
wheel, 31 cards for objectives and final scoring, monuments with improvements, and scorings of groups. The rules in
numbered clauses, with the rulings on what the printed ones leave open, are in `RULES.md` beside this file.

## Observation space

A dictionary of `observation` and `action_mask`; the mask is in the infos instead with `mask_in="info"`. Seats are
counted from the observer, who comes first; absent seats are 0. Larger values are cut to 1. Holdings of the others are
0 unless the option `open_holdings` is on, and nothing tells how much is in the bag. Copies for search keep the
holdings, which follow from what everybody saw (R15.3); the order of the pile and all draws to come are dealt anew.

| indices | size | block | meaning |
| --- | --- | --- | --- |
| 0..2 | 3 | `players` | one-hot: 2, 3, 4 players (R0) |
| 3..7 | 5 | `modules` | no_turn, cards, monuments, colour_scoring, exhaustion = all_built: 0/1 (R0) |
| 8..15 | 8 | `phase` | one-hot: main to announce; all 0 when over (R17.2) |
| 16..51 | 36 | `tile` | the tile being built and the own building to be replaced: 0/1 (R17.5) |
| 52..57 | 6 | `site` | one-hot: the city being built in or just built in (R17.6, R17.7) |
| 58 | 1 | `to_pay` | bricks still to pay, /8 (R17.6) |
| 59..64 | 6 | `segment` | one-hot: the segment being bought from (R17.4) |
| 65..70 | 6 | `last_colour` | one-hot: the colour last taken or paid (R17.4, R17.6) |
| 71 | 1 | `taken` | bricks taken in this purchase, /11 (R17.4) |
| 72..107 | 36 | `wheel` | bricks by segment and colour, /7 (R1.3) |
| 108 | 1 | `wheel_total` | bricks on the wheel, /11 (R4.3) |
| 109 | 1 | `bag_empty` | 1 when the bag is empty (R15.1) |
| 110..541 | 432 | `tiles` | for each tile: on offer, in the pile, owner (self first), city: 0/1 (R15.2) |
| 542 | 1 | `pile` | tiles in the pile, /21 (R2.2) |
| 543..548 | 6 | `for_sale` | object display: 0/1 (R2.3) |
| 549..554 | 6 | `supply` | object supply, /5 (R2.3) |
| 555..584 | 30 | `cities` | one-hot for each city: unscored, or who scored it (self first) (R6.3) |
| 585..656 | 72 | `seats` | self first: points /100, markers /6, types scored, groups scored, improvements, start player, exists (R15.2) |
| 657..669 | 13 | `hand` | own coins /50, bricks /7, objects /6 (R15.1) |
| 670..708 | 39 | `others` | the same of the next seats; 0 unless open_holdings (R15.3) |
| 709..714 | 6 | `improvements` | improvements in stock, /2 (R13.6) |
| 715..745 | 31 | `cards` | the cards in force: 0/1 (R12.2) |
| 746..748 | 3 | `objectives` | own objectives met: 0/1 (R8.4) |
| 749 | 1 | `triggered` | 1 when the end is triggered (R8.1) |
| 750..754 | 5 | `announcer` | one-hot: nobody, or who announced the end (self first) (R8.3) |
| 755 | 1 | `rounds` | rounds completed, as a share of max_rounds (R8.8) |

## Legal-action mask

`action_mask` holds 85 int8 entries, 1 for a legal action of the seat to act; for the other seats, and when the game is
over, all are 0. A main action has up to 36 tiles to choose from in theory; in play there are about six legal actions
in a decision. A purchase takes its bricks from white to black, a payment from poor to fine, so that each has exactly
one sequence; every way through the mask can be finished. An illegal action is met as `illegal` says.

## Action space

A turn is one main action in one to a dozen small decisions, then perhaps an object and the announcement. Decisions
with one legal action are made unasked (`auto_forced`).

| indices | size | block | meaning |
| --- | --- | --- | --- |
| 0 | 1 | `buy_turn` | buy bricks: turn the wheel first (R4.2) |
| 1 | 1 | `buy_stay` | buy bricks without turning the wheel (R11.1) |
| 2..37 | 36 | `tile` | build this tile (type, level); in `site`: replace it (R5.1, R13.4) |
| 38..43 | 6 | `score_city` | score a city (R6.3) |
| 44..49 | 6 | `score_type` | score a type of building (R6.2) |
| 50..51 | 2 | `score_group` | score the city or the country group (R14.1) |
| 52 | 1 | `relief` | take 2 coins, when nothing else is legal (R10.1) |
| 53..58 | 6 | `city` | the city to build in (R5.2) |
| 59..64 | 6 | `segment` | the segment to buy from (R4.4) |
| 65..70 | 6 | `colour` | take a brick of this colour, or pay one (R17.4, R17.6) |
| 71..76 | 6 | `improve` | take the improvement of a city (R13.7) |
| 77..82 | 6 | `object` | buy an object (R7.1) |
| 83 | 1 | `done` | take no more bricks; buy no object; do not announce (R17.4, R7.1, R8.3) |
| 84 | 1 | `announce` | announce the end (R8.3) |

## Rewards

All at the end of the game. `reward="win"`, the default, pays +1 to the winner and -1 / (players - 1) to each other
seat; who shares the first place shares what the winners get. `reward="rank"` pays by places, +1 for the first to -1
for the last. `reward="score"` pays the points less the mean of the others' points, divided by 10, a usual margin
between good players, within -1..1. Places go by points, then by bricks left.

## Options

| option | default | meaning |
| --- | --- | --- |
| `wheel_setup` | `'random_six'` | the first six bricks on the wheel, `'random_six'` or `'one_of_each'` (R2.5) |
| `exhaustion` | `'no_refill'` | when the tiles are used up and the end comes, `'no_refill'` or `'all_built'` (R8.2) |
| `no_turn` | `False` | a purchase may leave the wheel as it stands (R11) |
| `cards` | `False` | four cards out of 31 set objectives and final scoring (R12) |
| `monuments` | `False` | buildings of cost 8, and improvements of cities (R13) |
| `colour_scoring` | `False` | scorings of all city and of all country buildings (R14) |
| `improvement_supply` | `'one_per_city'` | how many improvements there are, `'one_per_city'` or `'eight'` (R13.6) |
| `payment` | `'choose'` | who chooses the bricks that are paid, `'choose'` or `'auto'` (R5.3) |
| `open_holdings` | `False` | everybody is shown coins, bricks and objects of everybody (R15.3) |
| `max_rounds` | 200 | the game is scored as it stands after so many rounds (R8.8) |
| `auto_forced` | `True` | decisions with one legal option are made unasked (R17.10) |
| `max_decisions` | 6400 | the game is scored as it stands at this cap; 9600 with 3 players, 12800 with 4 (R17.11) |

The published rulebook's set-up is `wheel_setup="one_of_each"` with `exhaustion="all_built"`.

## Termination

The game ends at the end of the round in which the tiles are used up or the end is announced (R8). Random play takes
about 140, 160, 165 decisions with 2, 3, 4 players, with all modules 175 to 210; a two-player game has 40 to 55
rounds, one with four players 15 to 30. Random and greedy games do not come near the caps of 200 rounds and 16
decisions a turn, but deliberate stalling can come near the former. With lower caps a game may be cut: then both
`terminated` and `truncated` are true.

## Baseline

The greedy baseline (`bot.py`) weighs each main action by what it brings now or may bring in a later scoring. It wins
all but a few of a thousand games against uniformly random play, with any number of players.

## Version history

* v0: first release
"""  # noqa: E501 (rows of the tables)

from tabletop_envs.core.spec import Choice, Flag, GameSpec, Integer

GAME = GameSpec(
    id="carrara",
    version=0,
    title="The Palaces of Carrara",
    summary="Two to four players buy marble on a turning wheel, build in six cities and choose when to score them.",
    package=__name__,
    min_players=2,
    max_players=4,
    max_decisions={2: 6400, 3: 9600, 4: 12800},  # R17.11
    score_scale=10,  # the mean margin between two greedy players is 9
    playout="greedy",
    playout_decisions=60,
    options=(
        Choice("wheel_setup", "R2.5", "the first six bricks on the wheel", ("random_six", "one_of_each")),
        Choice("exhaustion", "R8.2", "when the tiles are used up and the end comes", ("no_refill", "all_built")),
        Flag("no_turn", "R11", "a purchase may leave the wheel as it stands"),
        Flag("cards", "R12", "four cards out of 31 set objectives and final scoring"),
        Flag("monuments", "R13", "buildings of cost 8, and improvements of cities"),
        Flag("colour_scoring", "R14", "scorings of all city and of all country buildings"),
        Choice("improvement_supply", "R13.6", "how many improvements there are", ("one_per_city", "eight")),
        Choice("payment", "R5.3", "who chooses the bricks that are paid", ("choose", "auto")),
        Flag("open_holdings", "R15.3", "everybody is shown coins, bricks and objects of everybody"),
        Integer("max_rounds", "R8.8", "the game is scored as it stands after so many rounds", 200, 1, 10_000),
    ),
)
