"""London: two to four players build the city up again after the fire of 1666, with cards, boroughs, loans and the poor.

| | |
| --- | --- |
| Creation | `tabletop_envs.make("london", num_players=...)`, `london_v0.env()`, `pettingzoo.make("aec", "tabletop/london-v0")`, `gymnasium.make("tabletop/London-v0")` |
| Actions | discrete, masked |
| Parallel API | turn-based view: `tabletop_envs.make_parallel("london")`, `london_v0.parallel_env()`, `pettingzoo.make("parallel", "tabletop/london-v0")` |
| Manual control | `tabletop-envs play london` |
| Agents | `player_0` to `player_3` |
| Number of agents | 2 to 4 |
| Action shape | `(1,)` |
| Action values | `Discrete(118)` |
| Observation shape | `(2055,)` |
| Observation values | `[0, 1]`, float32 |
| State shape | `(4110,)`, `(6165,)`, `(8220,)` with 2, 3, 4 players: the observations of all seats |
| State values | `[0, 1]`, float32 |

## Description

The first edition of 2010. In a turn a player takes a card, from the deck or from an open display, and does one of four
things: place cards on his stacks, each paid for with another card of its colour; run the city, activating his visible
cards for money, victory points and less poverty; buy a borough; or take three cards. A run brings a poverty point for
every stack and every card in hand, less one for every borough. When the deck is empty each other player has one more
turn; loans not repaid and more poverty than the least poor player has cost dearly. Chance is the shuffle of three
decks and the start player; hands and the order of the deck are hidden. The rules in numbered clauses, with the
rulings on what the printed ones leave open, are in `RULES.md` beside this file.

## Observation space

A dictionary of `observation` and `action_mask`; the mask is in the infos instead with `mask_in="info"`. All 72 card
types have an index, in the order of `tables.py`; a count "of the copies" is divided by the copies of the type in the
game. The size is the same for every number of players: blocks of seats that do not exist are zero.

| indices | size | block | meaning |
| --- | --- | --- | --- |
| 0..2 | 3 | `players` | one-hot: 2, 3, 4 players |
| 3..20 | 18 | `node` | one-hot: what is asked, in the order of R15; all 0 when over (R15) |
| 21..24 | 4 | `reason` | one-hot at DRAW: start, borough, take three, refugees (R6.3) |
| 25..35 | 11 | `turn` | cards due/5, draw optional, free plays/2, plays/10, activations/10, cards expended/10, Underground counters to place/2, exchange possible, voluntary loans left/allowed, Public Houses in this run, Whitehall at work; at most 1 (R15) |
| 36..107 | 72 | `card` | one-hot: the card in progress (R15) |
| 108..179 | 72 | `hand` | own hand by type, of the copies (R2.3) |
| 180..395 | 216 | `seen` | one-hot: the seen University cards left, k-th = peek k (R6.5) |
| 396..1115 | 720 | `display` | one-hot: Card Display, row 1 first (R5) |
| 1116..1187 | 72 | `discard` | cards out of the game by type, of the copies (R5.5) |
| 1188..1255 | 68 | `placed` | tops that the seat in turn placed in this turn, of the copies (R7.6) |
| 1256..1323 | 68 | `activated` | tops that it activated in this run, face up or down, of the copies (R9.2) |
| 1324..1343 | 20 | `open` | boroughs that may be bought next (R10.2) |
| 1344..1363 | 20 | `underground` | boroughs with an Underground counter (R9.14) |
| 1364..1367 | 4 | `deck` | cards left of A/25, B/50, C/35, all/110 (R2.2) |
| 1368..1370 | 3 | `end` | end phase on, turns still to play/4, turns completed/max_turns (R12) |
| 1371..1385 | 15 | `self_facts` | the observer: money/60, loans/10, poverty/40, VP counters/60, hand/16, stacks/20, face-down tops/20, boroughs/11, printed VP/60, highest card VP/7, Public Houses ever activated, in turn, start player, money on Shops/10, most on one Shops/10; at most 1 (R2.1, R13) |
| 1386..1453 | 68 | `self_visible` | the observer: visible tops by type, of the copies (R7.12) |
| 1454..1521 | 68 | `self_built` | the observer: cards in the Building Display, of the copies (R7.5) |
| 1522..1541 | 20 | `self_boroughs` | the observer: owned boroughs (R10) |
| 1542..1556 | 15 | `second_facts` | the next seat: money/60, loans/10, poverty/40, VP counters/60, hand/16, stacks/20, face-down tops/20, boroughs/11, printed VP/60, highest card VP/7, Public Houses ever activated, in turn, start player, money on Shops/10, most on one Shops/10; at most 1 (R2.1, R13) |
| 1557..1624 | 68 | `second_visible` | the next seat: visible tops by type, of the copies (R7.12) |
| 1625..1692 | 68 | `second_built` | the next seat: cards in the Building Display, of the copies (R7.5) |
| 1693..1712 | 20 | `second_boroughs` | the next seat: owned boroughs (R10) |
| 1713..1727 | 15 | `third_facts` | the seat after it: money/60, loans/10, poverty/40, VP counters/60, hand/16, stacks/20, face-down tops/20, boroughs/11, printed VP/60, highest card VP/7, Public Houses ever activated, in turn, start player, money on Shops/10, most on one Shops/10; at most 1 (R2.1, R13) |
| 1728..1795 | 68 | `third_visible` | the seat after it: visible tops by type, of the copies (R7.12) |
| 1796..1863 | 68 | `third_built` | the seat after it: cards in the Building Display, of the copies (R7.5) |
| 1864..1883 | 20 | `third_boroughs` | the seat after it: owned boroughs (R10) |
| 1884..1898 | 15 | `fourth_facts` | the last seat: money/60, loans/10, poverty/40, VP counters/60, hand/16, stacks/20, face-down tops/20, boroughs/11, printed VP/60, highest card VP/7, Public Houses ever activated, in turn, start player, money on Shops/10, most on one Shops/10; at most 1 (R2.1, R13) |
| 1899..1966 | 68 | `fourth_visible` | the last seat: visible tops by type, of the copies (R7.12) |
| 1967..2034 | 68 | `fourth_built` | the last seat: cards in the Building Display, of the copies (R7.5) |
| 2035..2054 | 20 | `fourth_boroughs` | the last seat: owned boroughs (R10) |

## Legal-action mask

`action_mask` holds 118 int8 entries, 1 for a legal action of the seat to act; for other seats, and when the game is
over, all are 0. Only the seat in turn ever decides. In random play 2 to 26 actions are legal, 6 on average. A choice
with one option is made unasked (`auto_forced`), so the mask of a seat that is asked has at least two. Everything can
be paid, as loans are taken as needed. An illegal action is met as `illegal` says.

## Action space

A turn is a run of decisions of one seat. `card` means what the node asks for: a card to play, to pay with, to cover,
to activate, to spend or to discard. Which of several equal copies is meant follows from R14.4.

| indices | size | block | meaning |
| --- | --- | --- | --- |
| 0..71 | 72 | `card` | a card type: from the hand, or on top of a stack, as the node asks (R14.3, R14.4) |
| 72..81 | 10 | `slot` | a space of the Card Display by row and column; row 1 fills first (R14.3, R5) |
| 82 | 1 | `deck` | the top card of the deck (R6.3) |
| 83..85 | 3 | `peek` | a seen University card left, the nearest to the top first (R6.5) |
| 86..105 | 20 | `borough` | a borough to buy, or for an Underground counter (R10.1, R9.14) |
| 106..108 | 3 | `opponent` | the player 1, 2 or 3 seats on (R9.22, R9.23) |
| 109 | 1 | `new_stack` | place on a new stack (R7.5) |
| 110 | 1 | `face_down_stack` | place on a stack whose top card lies face down (R7.5) |
| 111 | 1 | `run_city` | action 2: run the city (R9.1) |
| 112 | 1 | `take_three` | action 4: take three cards (R8.1) |
| 113 | 1 | `done` | stop, or take no more (R15) |
| 114 | 1 | `exchange` | use the Stock Exchange (R7.11) |
| 115 | 1 | `loan` | take a voluntary loan (R11.5) |
| 116 | 1 | `flip_self` | flip the card just activated (R9.7) |
| 117 | 1 | `flip_hospital` | flip a Hospital instead (R9.12) |

## Rewards

All at the end of the game. `reward="win"`, the default, pays by places: with two players +1 to the winner and -1 to
the loser, with more of them so that the sum is 0; shared places share. `reward="score"` pays the margin of points
divided by 40, a usual one between good players, within -1..1.

## Options

| option | default | meaning |
| --- | --- | --- |
| `public_houses` | `'both'` | when Public Houses spare the hand (R9.15, R13.3) |
| `max_turns` | `240` | the game is scored after so many turns of all players (R12.4) |
| `max_voluntary_loans_per_turn` | `2` | loans without need in one turn (R11.5) |
| `school_pays_activation` | `False` | a School turns any card into Great Exhibition's blue one (R9.3) |
| `count_scope` | `'visible'` | which cards Bridges and Town Houses count (R9.17, R9.18) |
| `auto_forced` | `True` | decisions with one legal option are made unasked (R14.2) |
| `max_decisions` | `48000` | the game is scored as it stands at this cap (R16.2) |

## Termination

The game ends when every other player has had a turn behind the one in which the last deck card was taken (R12.3).
Should the players never exhaust the deck, it ends after `max_turns` turns of all players together (R12.4); then, and
with a lower `max_decisions`, both `terminated` and `truncated` are true, and the game is scored as it stands. Random
play takes 400 to 840 decisions, 600 on average, in 60 to 125 turns; players who only shuffle cards between hand and
display reach about 2,140 decisions in 240 turns. The cap of 48,000 decisions (R16.2) is never reached.

## Baseline

The greedy baseline (`bot.py`) weighs the options of each decision by themselves, in victory points. It wins all of its
games against uniformly random play, with two, three and four players.

## Version history

* v0: first release
"""  # noqa: E501 (rows of the tables)

from tabletop_envs.core.spec import Choice, Flag, GameSpec, Integer

GAME = GameSpec(
    id="london",
    version=0,
    title="London",
    summary="Two to four players rebuild the city after the fire: cards, boroughs, loans and the poor.",
    package=__name__,
    min_players=2,
    max_players=4,
    max_decisions={2: 48_000, 3: 48_000, 4: 48_000},  # R16.2
    score_scale=40,
    # behind random playouts more simulations do not play better, and greedy ones win less when they are scored after 30
    # or 100 decisions: much of what a turn does pays late
    playout="greedy",
    playout_decisions=200,
    options=(
        Choice("public_houses", "R9.15, R13.3", "when Public Houses spare the hand", ("both", "official", "end_only")),
        Integer("max_turns", "R12.4", "the game is scored after so many turns of all players", 240, 1, 480),
        Integer("max_voluntary_loans_per_turn", "R11.5", "loans without need in one turn", 2, 0, 10),
        Flag("school_pays_activation", "R9.3", "a School turns any card into Great Exhibition's blue one"),
        Choice("count_scope", "R9.17, R9.18", "which cards Bridges and Town Houses count", ("visible", "all")),
    ),
)
