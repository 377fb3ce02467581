"""Hansa Teutonica: two to five merchants lay trade routes between 27 cities, and push each other off them.

| | |
| --- | --- |
| Creation | `tabletop_envs.make("hansa_teutonica", num_players=4)`, `hansa_teutonica_v0.env()`, `pettingzoo.make("aec", "tabletop/hansa_teutonica-v0")`, `gymnasium.make("tabletop/HansaTeutonica-v0")` |
| Actions | discrete, masked |
| Parallel API | turn-based view: `tabletop_envs.make_parallel("hansa_teutonica")`, `hansa_teutonica_v0.parallel_env()`, `pettingzoo.make("parallel", "tabletop/hansa_teutonica-v0")` |
| Manual control | `tabletop-envs play hansa_teutonica` |
| Agents | `player_0` (Red), `player_1` (Blue), `player_2` (Green), `player_3` (Yellow), `player_4` (Purple) |
| Number of agents | 2 to 5 |
| Action shape | `(1,)` |
| Action values | `Discrete(278)`; `Discrete(291)` with option `two_player_pawn` |
| Observation shape | `(1869,)`; `(1886,)` with option `two_player_pawn` |
| Observation values | `[0, 1]`, float32 |
| State shape | the observations of all seats: `(3738,)` for 2 players, `(5607,)` for 3, `(7476,)` for 4, `(9345,)` for 5; `(3772,)` with option `two_player_pawn` |
| State values | `[0, 1]`, float32 |

## Description

The map shows 27 Hanseatic cities and the routes between them; two or three players use one side, four or five the
other. In a turn a player spends two to five actions: takes resources into the supply, places them on routes, displaces
those of others, moves own ones, or establishes a route that is full of them. An established route pays prestige to who
controls its cities, gives the marker that lies on it, and founds an office or opens an ability of the player's desk:
more actions, higher offices, more moves, more income, a network that counts more. Who is displaced puts the resource
elsewhere, and one or two from the stock with it, in the middle of the other's turn. The game ends with 20 prestige, ten
complete cities or an empty pile of markers. The faces of markers in the pile and of those just drawn are hidden from
all; nothing else is. The rules in numbered clauses, with the rulings on what the printed ones leave open, are in
`RULES.md` beside this file.

## Observation space

A dictionary of `observation` and `action_mask`; the mask is in the infos instead with `mask_in="info"`. Seats are
relative: the observer comes first, the others follow clockwise, and seats that are not at the table are zero. Markers
stand in the order extra office, swap offices, plus 3, plus 4, upgrade ability, remove three.

| indices | size | block | meaning |
| --- | --- | --- | --- |
| 0..641 | 642 | `spaces` | space: owner one-hot, self first; 1 for a merchant (R1.5) |
| 642..845 | 204 | `route_markers` | route: marker one-hot (R10.1) |
| 846..1655 | 810 | `cities` | city: owner one-hot of its 4 offices from the left, extra offices by owner/5, controller one-hot; self first (R8.5, R10.3, R9) |
| 1656..1675 | 20 | `coellen` | circle 7, 8, 9, 11: owner one-hot, self first (R8.7) |
| 1676..1790 | 115 | `players` | player, self first: stock traders/26, merchants/4; supply the same; levels of the 5 abilities/highest; unused markers by kind/number of the kind; used markers/16; prestige/20; plate/3; east-west one-hot first, second, third; 1 on turn; largest network/30 (R2, R1.3, R10, R11, R13.7) |
| 1791 | 1 | `pile` | markers in the pile/number at the start (R2.6) |
| 1792..1797 | 6 | `unseen` | marker: face down/number of the kind (R15.2) |
| 1798 | 1 | `completed` | completed cities/10 (R8.10) |
| 1799 | 1 | `round` | finished turns div players/`max_rounds` (R17.2) |
| 1800..1803 | 4 | `num_players` | one-hot: 2, 3, 4, 5 players (R2.1) |
| 1804 | 1 | `side` | 1 on the 4-5 side of the board (R2.1) |
| 1805..1816 | 12 | `phase` | one-hot: main, pay, displaced: place, extra, board; move: to, next; reward; remove three; move three: pick, to; marker; all 0 when over, as all that follows |
| 1817 | 1 | `actions_left` | actions left/19 (R3.2) |
| 1818 | 1 | `moves_left` | moves left in a Move/5 (R7.1) |
| 1819 | 1 | `removals_left` | resources that remove three may still take/3 (R10.7) |
| 1820 | 1 | `extras_left` | extras not yet placed/2 (R6.4) |
| 1821..1822 | 2 | `held` | the resource under way: 1 for a merchant, 1 if there is one; (0, 1): no marker to draw (R6.3) |
| 1823..1856 | 34 | `context_route` | one-hot: route displaced on, moved or lifted from, established |
| 1857..1861 | 5 | `displaced_owner` | one-hot: owner of the resource displaced or moved by another, self first |
| 1862..1867 | 6 | `marker` | one-hot: marker to place, or just taken (R8.3, R10.8) |
| 1868 | 1 | `fee` | fee to pay/2 (R6.1) |
| at the end | 13 | `pawn` | one-hot: province of the pawn (R16.6); only with option `two_player_pawn` |
| at the end | 3 | `pawn_phase` | one-hot: pawn at the start, before, after (R16.6); only with option `two_player_pawn` |
| at the end | 1 | `pawn_moved` | 1 if the pawn was moved before this turn's actions (R16.6); only with option `two_player_pawn` |

## Legal-action mask

`action_mask` holds 278 int8 entries (291 with `two_player_pawn`), 1 for a legal action of the seat to act; for the other seats, and when the game is
over, all are 0. An index means the same thing in all phases of a kind: `route` is the route to establish, to put a
resource or a marker on, as the phase says. Of like resources on one route only the first can be chosen. Decisions with
one legal option are made without asking (`auto_forced`). An illegal action is met as `illegal` says.

## Action space

An action of the game is one to ten decisions: `place_trader` alone; `space`, `pay`, then `route` and `place_trader` of
the displaced owner; `space`, `route`, `space`, `route`, `done` of a Move; `route` and `reward` of an establishment.

| indices | size | block | meaning |
| --- | --- | --- | --- |
| 0..33 | 34 | `place_trader` | trader to route (R5, R6.4) |
| 34..67 | 34 | `place_merchant` | merchant to route (R5, R6.4) |
| 68..101 | 34 | `route` | choose route: establish, put a piece, put a marker (R8.1, R6.3, R7.1, R10.8) |
| 102..208 | 107 | `space` | choose the piece on space: displace, move, exchange, lift, remove (R6.1, R7, R10.7) |
| 209..213 | 5 | `income` | income with 0 to 4 merchants (R4.2) |
| 214..219 | 6 | `pay` | trader or merchant placed, 0 to 2 merchants in the fee (R6.2) |
| 220..233 | 14 | `reward` | nothing, office A trader, office A merchant, office B trader, office B merchant, ability, extra A trader, extra A merchant, extra B trader, extra B merchant, coellen 7, coellen 8, coellen 9, coellen 11 (R8.4) |
| 234 | 1 | `use_plus3` | use a marker plus 3 (R10.5) |
| 235 | 1 | `use_plus4` | use a marker plus 4 (R10.5) |
| 236 | 1 | `use_remove3` | use a marker remove three (R10.7) |
| 237..241 | 5 | `use_upgrade` | use a marker upgrade: keys, actions, privilege, book, money (R10.6) |
| 242..276 | 35 | `use_swap` | use a marker swap on pair of offices (R10.4) |
| 277 | 1 | `done` | end the turn, stop, decline (R3.4, R6.4, R7.2) |
| at the end | 13 | `pawn` | pawn to province (R16.6); only with option `two_player_pawn` |

## Rewards

All at the end of the game. `reward="win"`, the default, pays +1 to the winner and -1/(players - 1) to each of the
others; who share the victory share what it pays. `reward="score"` pays the points above the mean of the others,
divided by 20, a usual margin between good players, within -1..1.

## Options

| option | default | meaning |
| --- | --- | --- |
| `edition` | `'original'` | the set of markers, and what remove three does (R16.1): `'original'` or `'bigbox'` |
| `merchant_in_square` | `True` | a merchant may fill a square office (R16.2) |
| `east_west` | `'end'` | when the east-west network pays (R16.3): `'end'` or `'immediate'` |
| `swap_requires_own` | `False` | one of two swapped offices must be the player's own (R16.4) |
| `allow_early_end` | `True` | a turn may be ended with actions left (R16.5) |
| `two_player_pawn` | `False` | two players only: a pawn says where routes may be used (R16.6) |
| `max_rounds` | 100 | turns of each player after which the game is scored as it stands (R16.7) |
| `auto_forced` | `True` | decisions with one legal option are made unasked (R16.8) |
| `max_decisions` | 6228 | the game is scored as it stands at this cap; the default never cuts a game short (R16.9) |

## Termination

The game ends at the end of the action in which a player has 20 prestige, ten cities are complete, or a marker cannot be
drawn (R12.1), or when nobody can do anything (R17.1). Games of the greedy
baseline take 11 to 20 rounds and 250 to 370 decisions. After 100 rounds (option
`max_rounds`) a game is scored as it stands: then both `terminated` and `truncated` are true. Uniformly random play
always comes to that, after about 1,200 (2 players), 1,850 (3), 2,550 (4) or 3,200 decisions (5).

## Baseline

The greedy baseline (`bot.py`) works out what each route would pay now and takes the next step towards the one that pays
most an action. It wins more than 99 % of its games against
uniformly random players, one against up to four of them.

## Version history

* v0: first release
"""  # noqa: E501 (rows of the tables)

from tabletop_envs.core.spec import Choice, Flag, GameSpec, Integer

GAME = GameSpec(
    id="hansa_teutonica",
    version=0,
    title="Hansa Teutonica",
    summary="Two to five merchants fill trade routes, found offices, and are paid for being pushed aside.",
    package=__name__,
    min_players=2,
    max_players=5,
    max_decisions={2: 6228, 3: 6228, 4: 6228, 5: 6228},  # R17.3, R16.9
    score_scale=20,
    playout="greedy",
    playout_decisions=30,
    options=(
        Choice("edition", "R16.1", "the set of markers, and what remove three does", ("original", "bigbox")),
        Flag("merchant_in_square", "R16.2", "a merchant may fill a square office", True),
        Choice("east_west", "R16.3", "when the east-west network pays", ("end", "immediate")),
        Flag("swap_requires_own", "R16.4", "one of two swapped offices must be the player's own"),
        Flag("allow_early_end", "R16.5", "a turn may be ended with actions left", True),
        Flag("two_player_pawn", "R16.6", "two players only: a pawn says where routes may be used", players=(2,)),
        Integer("max_rounds", "R16.7", "turns of each player after which the game is scored as it stands", 100, 1),
    ),
)
