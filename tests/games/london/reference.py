"""A second witness of London's rules: the whole game once more, in plain Python, slow and simple.

It was written from RULES.md and data.json alone and shares nothing with the game's compiled core, not even its shape:
here a turn is a generator that runs through the clauses in their order and yields wherever the active player has to
decide. `legal()` is what may be answered, `apply(action)` answers. A node with one legal option is asked like any
other; whoever drives the table may answer it at once (R14.2). A node without options is passed over.

Chance comes from outside (R2.6): `deal` asks an object for the start player and for the order of each of the three
decks. Cards and boroughs are the numbers of data.json.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Protocol

DATA: dict[str, Any] = json.loads(Path(__file__).with_name("data.json").read_text(encoding="utf-8"))
CARDS: list[Any] = [SimpleNamespace(**card) for card in DATA["cards"]]
BOROUGHS: list[Any] = [SimpleNamespace(**borough) for borough in DATA["boroughs"]]
SETUP = SimpleNamespace(**DATA["setup"])
LOANS = SimpleNamespace(**DATA["loans"])
SCORING = SimpleNamespace(**DATA["scoring"])
DEFAULTS = {name: option["default"] for name, option in DATA["options"].items()}
PAUPERS = next(card.index for card in CARDS if card.colour == "grey")
CITY = next(borough.index for borough in BOROUGHS if borough.name == DATA["underground"]["start_borough"])

# The action space (R14.3): the first index of each block. A card's action is the number of its type.
FIRST: dict[str, int] = {block["name"]: block["first"] for block in DATA["action_space"]["blocks"]}
SLOT, DECK, PEEK, BOROUGH, OPPONENT = (FIRST[name] for name in ("SLOT", "DECK", "PEEK", "BOROUGH", "OPPONENT"))
NEW_STACK, FACE_DOWN_STACK = FIRST["NEW_STACK"], FIRST["FACE_DOWN_STACK"]
RUN_CITY, TAKE_THREE, DONE = FIRST["RUN_CITY"], FIRST["TAKE_THREE"], FIRST["DONE"]
EXCHANGE, LOAN = FIRST["EXCHANGE"], FIRST["LOAN"]
FLIP_SELF, FLIP_HOSPITAL = FIRST["FLIP_SELF"], FIRST["FLIP_HOSPITAL"]
SLOTS_PER_ROW = 5

RUNNING, ENDED, CAPPED = 0, 1, 2

# Names, and the choices in the notation of cases.json that stand for one action each.
CARD_NUMBERS: dict[str, int] = {card.name: card.index for card in CARDS}
BOROUGH_NUMBERS: dict[str, int] = {borough.name: borough.index for borough in BOROUGHS}
CHOICES = {
    "deck": DECK,
    "new": NEW_STACK,
    "face_down": FACE_DOWN_STACK,
    "run": RUN_CITY,
    "take3": TAKE_THREE,
    "done": DONE,
    "exchange": EXCHANGE,
    "loan": LOAN,
    "flip_self": FLIP_SELF,
    "flip_hospital": FLIP_HOSPITAL,
}

Question = tuple[str, frozenset[int]]
Steps = Generator[Question, int, None]
Answer = Generator[Question, int, int]


class Chance(Protocol):
    """All that is random (R2.6)."""

    def start_player(self, num_players: int) -> int:
        """The seat that begins."""

    def shuffled(self, letter: str, cards: list[int]) -> list[int]:
        """The cards of the deck of this letter, top first."""


@dataclass
class Stack:
    """A stack of a Building Display; its last card lies on top."""

    cards: list[int]
    face_up: bool = True
    money: int = 0  # on Shops
    placed: bool = False  # the top, this turn
    activated: bool = False  # the top, in this run

    @property
    def top(self) -> Any:
        """The card on top, whether face up or face down."""
        return CARDS[self.cards[-1]]


@dataclass
class Player:
    """What one player has (R2.1)."""

    money: int = SETUP.money
    loans: int = 0
    poverty: int = SETUP.poverty
    vp: int = 0
    hand: Counter[int] = field(default_factory=Counter)
    stacks: list[Stack] = field(default_factory=list)
    boroughs: set[int] = field(default_factory=set)
    pub_activated: bool = False

    @classmethod
    def arranged(cls, seat: dict[str, Any]) -> Player:
        """A player as a set-up of cases.json gives it."""
        plain = ("money", "loans", "poverty", "vp", "pub_activated")
        player = cls(**{name: seat[name] for name in plain if name in seat})
        player.hand = Counter(CARD_NUMBERS[name] for name in seat.get("hand", ()))
        player.boroughs = {BOROUGH_NUMBERS[name] for name in seat.get("boroughs", ())}
        for stack in seat.get("stacks", ()):
            given = {"cards": [stack]} if isinstance(stack, str) else stack
            names = [CARD_NUMBERS[name] for name in given["cards"]]
            player.stacks.append(Stack(names, given.get("face_up", True), given.get("money", 0)))
        return player

    def types(self) -> list[int]:
        """The types of the cards in hand."""
        return sorted(card for card, count in self.hand.items() if count > 0)

    def visible(self) -> list[Stack]:
        """The stacks whose top card is face up (R7.12)."""
        return [stack for stack in self.stacks if stack.face_up]

    def shows(self, effect: str) -> bool:
        """Whether a card with this text above the picture (or Hospital) is visible."""
        return any(stack.top.static_effect == effect for stack in self.visible())

    def built(self) -> list[Any]:
        """All cards of the Building Display in any state."""
        return [CARDS[card] for stack in self.stacks for card in stack.cards]


@dataclass
class Turn:
    """What is remembered until the turn ends."""

    plays: int = 0  # placements and refugees
    free: int = 0  # placements that Wren still makes free
    activations: int = 0
    pub: bool = False  # Public Houses activated in this run
    loans: int = 0  # voluntary ones
    exchanged: bool = False
    reason: str = "start"  # why cards are drawn: start, borough, take three, refugees
    due: int = 0  # cards still to draw
    optional: bool = False  # the draw may be stopped (Parliament)
    seen: int | None = None  # cards on top of the deck that the active player sees (University)
    put_back: int = 0  # of these, already put back in order
    card: int | None = None  # being placed, activated or given
    repeating: bool = False  # Whitehall is at work
    expended: int = 0
    counters: int = 0  # Underground counters still to place


class Table:
    """One game. `node` and `legal()` say what is asked of seat `current`; `over` tells how the game ended."""

    def __init__(self, num_players: int, **options: Any) -> None:
        """An empty table: `deal` prepares a game, or the caller arranges a position. Then `begin`."""
        self.options = SimpleNamespace(**{**DEFAULTS, **options})
        self.players = [Player() for _ in range(num_players)]
        self.deck: list[int] = []  # top first
        self.columns = SETUP.display_columns[str(num_players)]  # R2.4
        self.display: list[list[int | None]] = [[None] * self.columns for _ in range(SETUP.display_rows)]
        self.discard: Counter[int] = Counter()
        self.underground: set[int] = set()
        self.start_player = 0
        self.current = 0
        self.turns = 0  # completed
        self.turns_left: int | None = None  # in the end phase, the current one included
        self.over = RUNNING
        self.turn = Turn()
        self.node = ""
        self._options: frozenset[int] = frozenset()

    @classmethod
    def arranged(cls, setup: dict[str, Any]) -> Table:
        """The position of a set-up in the notation of cases.json, with its first question asked."""
        table = cls(setup["players"], **setup.get("options", {}))
        table.deck = [CARD_NUMBERS[name] for name in setup.get("deck", ())]
        for row, names in zip(table.display, setup.get("display", ()), strict=False):
            row[:] = [None if name is None else CARD_NUMBERS[name] for name in names]
        table.discard = Counter(CARD_NUMBERS[name] for name in setup.get("discard", ()))
        table.underground = {BOROUGH_NUMBERS[name] for name in setup.get("underground", ())}
        table.start_player = table.current = setup.get("current", 0)
        table.turns_left = setup.get("final_turns_left")
        if not table.deck and table.turns_left is None:  # the turn in which the last card was taken
            table.turns_left = setup["players"]
        table.players = [Player.arranged(seat) for seat in setup["seats"]]
        table.begin(setup.get("node", "ACTION"))
        return table

    def deal(self, chance: Chance) -> None:
        """R2.2 to R2.5."""
        for letter in SETUP.deck_order_top_to_bottom:
            cards = [card.index for card in CARDS for _ in range(card.copies_by_deck[letter])]
            self.deck += chance.shuffled(letter, cards)
        for player in self.players:
            player.hand = Counter(self.deck[: SETUP.hand])
            del self.deck[: SETUP.hand]
        self.start_player = self.current = chance.start_player(len(self.players))

    def begin(self, at: str = "START") -> None:
        """Ask the first question: `START` of the turn of seat `current`, its `ACTION`, or none any more: `FINAL`."""
        self.over = ENDED if at == "FINAL" else RUNNING
        self._flow = self._play(at)
        self._advance(None)

    def legal(self) -> frozenset[int]:
        """The legal answers; none when the game is over."""
        return self._options

    def apply(self, action: int) -> None:
        """Answer, and go on to the next question."""
        assert action in self._options
        self._advance(action)

    def _advance(self, action: int | None) -> None:
        try:
            self.node, self._options = self._flow.send(action)  # type: ignore[arg-type]
        except StopIteration:
            self.node, self._options = "END", frozenset()

    @property
    def me(self) -> Player:
        """The active player: nobody else ever decides (R4.3)."""
        return self.players[self.current]

    @property
    def others(self) -> list[Player]:
        """The other players, clockwise from the active one."""
        number = len(self.players)
        return [self.players[(self.current + k) % number] for k in range(1, number)]

    # --- R4, R12: turns

    def _play(self, at: str) -> Steps:
        while self.over == RUNNING:
            if at == "START":
                yield from self._draw_step()
            yield from self._action()
            yield from self._hand_limit()
            self._end_turn()
            at = "START"

    def _hand_limit(self) -> Steps:
        """R4.6."""
        while self.me.hand.total() > SETUP.hand_limit:
            card = yield from self._ask("DISCARD", self.me.types())
            self._expend(card)

    def _end_turn(self) -> None:
        self.turn = Turn()
        for stack in self.me.stacks:
            stack.placed = stack.activated = False
        self.turns += 1
        if self.turns_left is not None:
            self.turns_left -= 1
        if self.turns_left == 0:  # R12.3
            self.over = ENDED
        elif self.turns >= self.options.max_turns:  # R12.4
            self.over = CAPPED
        else:
            self.current = (self.current + 1) % len(self.players)

    def _ask(self, node: str, options: Iterable[int]) -> Answer:
        choice = yield node, frozenset(options)
        return choice

    # --- R5: Card Display

    def _expend(self, card: int) -> None:
        """A spent or discarded hand card goes to the Card Display (R5.1)."""
        self.me.hand[card] -= 1
        for row in self.display:  # R5.3
            if None in row:
                row[row.index(None)] = card
                return
        self.discard.update(self._on_display(self.display[0]))  # R5.4
        self.display = [self.display[1], [card] + [None] * (self.columns - 1)]

    @staticmethod
    def _on_display(row: list[int | None]) -> list[int]:
        return [card for card in row if card is not None]

    def _slots(self) -> dict[int, int]:
        """The actions for the occupied spaces of the Card Display, and the cards that lie there."""
        return {
            SLOT + SLOTS_PER_ROW * r + c: card
            for r, row in enumerate(self.display)
            for c, card in enumerate(row)
            if card is not None
        }

    def _swap_slot(self, action: int, card: int | None) -> int:
        """Take the card of a space and leave another or nothing there (R5.6)."""
        row, column = divmod(action - SLOT, SLOTS_PER_ROW)
        taken, self.display[row][column] = self.display[row][column], card
        assert taken is not None
        return taken

    # --- R6: taking cards

    def _draw_step(self) -> Steps:
        """R6.1, R6.4 (Parliament) and R6.5 (University)."""
        both = self.me.shows("PARLIAMENT")
        self.turn.optional = both
        if self.me.shows("UNIVERSITY"):
            self.turn.seen = min(3, len(self.deck))
        yield from self._take("start", 2 if both else 1)
        self.turn.optional = False
        if self.turn.seen is not None:
            yield from self._reorder(self.turn.seen)
        self.turn.seen, self.turn.put_back = None, 0

    def _take(self, reason: str, due: int) -> Steps:
        """Cards one by one from deck and Card Display (R6.3)."""
        turn = self.turn
        turn.reason, turn.due = reason, due
        while turn.due:
            sources = set(self._slots())
            if turn.seen is not None:
                sources |= {PEEK + k for k in range(turn.seen)}
            elif self.deck:
                sources.add(DECK)
            if not sources:
                break
            choice = yield from self._ask("DRAW", sources | ({DONE} if turn.optional else set()))
            if choice == DONE:
                break
            if choice in self._slots():
                self.me.hand[self._swap_slot(choice, None)] += 1
            else:
                self._take_from_deck(0 if choice == DECK else choice - PEEK)
            turn.due -= 1
        turn.due = 0

    def _take_from_deck(self, depth: int) -> None:
        self.me.hand[self.deck.pop(depth)] += 1
        if self.turn.seen is not None:
            self.turn.seen -= 1
        if not self.deck:  # R12.1: this turn, and one of every other player
            self.turns_left = len(self.players)

    def _reorder(self, seen: int) -> Steps:
        """The seen cards that were not taken go back in any order (R6.5)."""
        turn = self.turn
        while len(set(self.deck[turn.put_back : seen])) > 1:
            choice = yield from self._ask("REORDER", range(PEEK, PEEK + seen - turn.put_back))
            self.deck.insert(turn.put_back, self.deck.pop(turn.put_back + choice - PEEK))
            turn.put_back += 1

    # --- R11: money

    def _loan(self, player: Player) -> None:
        """R11.1, R11.4."""
        player.money += LOANS.cash_with_bank_of_england if player.shows("BANK_OF_ENGLAND") else LOANS.cash
        player.loans += 1

    def _pay(self, player: Player, amount: int) -> None:
        """With the fewest loans that make it possible (R11.2, R11.3)."""
        while player.money < amount:
            self._loan(player)
        player.money -= amount

    # --- R4.2: the action

    def _action(self) -> Steps:
        while True:
            options = set(self._playable()) | self._for_sale() | {TAKE_THREE} | self._exchange_option()
            if self._activatable():
                options.add(RUN_CITY)
            if self._loan_allowed():
                options.add(LOAN)
            choice = yield from self._ask("ACTION", options)
            if choice not in (EXCHANGE, LOAN):
                break
            yield from self._aside(choice)
        if choice == RUN_CITY:
            yield from self._run_city()
        elif choice == TAKE_THREE:
            yield from self._take("take three", 3)  # R8
            yield from self._turn_end_exchange()
        elif choice >= BOROUGH:
            yield from self._buy(choice - BOROUGH)
            yield from self._turn_end_exchange()
        else:
            yield from self._play_cards(choice)

    def _aside(self, choice: int) -> Steps:
        """What is no action: Stock Exchange (R7.11) and voluntary loans (R11.5)."""
        if choice == LOAN:
            self._loan(self.me)
            self.turn.loans += 1
            return
        self.turn.exchanged = True
        given = yield from self._ask("EXCHANGE_GIVE", self.me.types())
        self.turn.card = given
        choice = yield from self._ask("EXCHANGE_TAKE", self._slots())
        self.turn.card = None
        self.me.hand[given] -= 1
        self.me.hand[self._swap_slot(choice, given)] += 1

    def _exchange_option(self) -> set[int]:
        usable = not self.turn.exchanged and self.me.shows("STOCK_EXCHANGE")
        return {EXCHANGE} if usable and self.me.types() and self._slots() else set()

    def _loan_allowed(self) -> bool:
        return self.turn.loans < self.options.max_voluntary_loans_per_turn

    def _turn_end_exchange(self) -> Steps:
        """END_TURN (R15), after actions 3 and 4."""
        while self._exchange_option():
            choice = yield from self._ask("END_TURN", {EXCHANGE, DONE})
            if choice == DONE:
                break
            yield from self._aside(choice)

    def _between(self, options: list[int]) -> set[int]:
        """The options beside those that continue a begun action (R15: PLAY_NEXT, ACTIVATE)."""
        return {DONE} | self._exchange_option() | ({LOAN} if options and self._loan_allowed() else set())

    # --- R7: playing cards

    def _playable(self) -> list[int]:
        """The types in hand with which a play can begin (R7.1, R7.8, R7.9)."""
        return [card for card in self.me.types() if self._can_play(CARDS[card])]

    def _can_play(self, card: Any) -> bool:
        if card.stone_base:
            return not self._needs_payment(card) or bool(self._payments(card))
        if card.play_effect == "WREN":
            return any(CARDS[other].stone_base for other in self.me.types())
        if card.play_effect == "TAKE_TWO":
            return bool(self.deck or self._slots())
        return False

    def _needs_payment(self, card: Any) -> bool:
        """R7.2."""
        return card.static_effect != "FREE_PLACEMENT" and not self.turn.free

    def _payments(self, card: Any) -> list[int]:
        """The types that can be spent for placing a card (R7.2, R7.4)."""
        rest = self.me.hand - Counter([card.index])
        return [other for other in sorted(rest) if CARDS[other].colour == card.colour or self.me.shows("SCHOOL")]

    def _play_cards(self, choice: int) -> Steps:
        """Action 1, begun with a card."""
        while choice != DONE:
            if choice in (EXCHANGE, LOAN):
                yield from self._aside(choice)
            else:
                yield from self._one_play(CARDS[choice])
            cards = self._playable()
            beside = self._between(cards) if self.turn.plays else set()
            choice = yield from self._ask("PLAY_NEXT", set(cards) | beside)
        self.turn.free = self.turn.plays = 0

    def _one_play(self, card: Any) -> Steps:
        if card.play_effect:  # D4: used cards without a stone base leave the game
            self.me.hand[card.index] -= 1
            self.discard[card.index] += 1
        if card.play_effect == "WREN":  # R7.9
            self.turn.free = 2
            return
        if card.play_effect == "TAKE_TWO":  # R7.8
            yield from self._take("refugees", 2)
        else:
            yield from self._place(card)
        self.turn.plays += 1

    def _place(self, card: Any) -> Steps:
        """R7.7: payment card, price, place, Shops income."""
        self.turn.card = card.index
        needs_payment = self._needs_payment(card)
        if needs_payment:
            payment = yield from self._ask("PAY_CARD", self._payments(card))
        self.me.hand[card.index] -= 1
        if needs_payment:
            self._expend(payment)
            if CARDS[payment].colour != card.colour:
                self._pay(self.me, 1)  # R7.4
        elif card.static_effect != "FREE_PLACEMENT":
            self.turn.free -= 1
        self._pay(self.me, card.cost)  # R7.3
        open_stacks = [stack for stack in self.me.stacks if not stack.placed]  # R7.6
        tops = {stack.top.index if stack.face_up else FACE_DOWN_STACK for stack in open_stacks}
        choice = yield from self._ask("TARGET", tops | {NEW_STACK})
        if choice == NEW_STACK:
            stack = Stack([])
            self.me.stacks.append(stack)
        elif choice == FACE_DOWN_STACK:
            stack = next(stack for stack in open_stacks if not stack.face_up)
        else:  # R14.4
            stack = min(self._showing(choice, open_stacks), key=lambda stack: stack.money)
        self._lay(card.index, stack)
        self.turn.card = None

    @staticmethod
    def _showing(card: int, stacks: list[Stack]) -> list[Stack]:
        return [stack for stack in stacks if stack.face_up and stack.top.index == card]

    def _lay(self, card: int, stack: Stack) -> None:
        """Face up on top (R7.5); every other visible Shops receives 1 pound (R7.10)."""
        for other in self.me.visible():
            if other is not stack and other.top.static_effect == "SHOPS_INCOME":
                other.money += 1
        stack.cards.append(card)
        stack.face_up, stack.money, stack.placed, stack.activated = True, 0, True, False

    # --- R9: running the city

    def _activatable(self) -> list[int]:
        """The types of which a card can be activated."""
        return sorted({stack.top.index for stack in self.me.stacks if self._can_activate(stack)})

    def _can_activate(self, stack: Stack) -> bool:
        """R9.2."""
        unused = stack.face_up and not stack.activated
        return unused and self._can_pay_activation(stack.top) and self._has_effect(stack.top)

    def _can_pay_activation(self, card: Any) -> bool:
        """R9.3; money is no obstacle (R11.2)."""
        return card.activation_cost["kind"] in ("none", "money") or bool(self._activation_payments(card))

    def _activation_payments(self, card: Any) -> list[int]:
        """R9.3, O4."""
        any_card = card.activation_cost["kind"] == "card_any" or self._school_pays()
        return [other for other in self.me.types() if any_card or CARDS[other].colour == "blue"]

    def _school_pays(self) -> bool:
        allowed: bool = self.options.school_pays_activation
        return allowed and self.me.shows("SCHOOL")

    def _has_effect(self, card: Any) -> bool:
        """R9.4, R9.5."""
        if card.gain_money or card.gain_vp or card.add_poverty or (card.remove_poverty and self.me.poverty):
            return True
        effect = card.activation_effect
        if effect == "MONEY_PER_BROWN":
            return self._browns() > 0
        if effect in ("OMNIBUS", "STEAMBOATS", "TRAIN_STATION"):
            return self._borough_money(effect) > 0
        if effect in ("BRIXTON_PRISON", "MILLBANK_PRISON"):
            return bool(self.me.types())
        if effect == "WORKHOUSE":
            return self.me.hand[PAUPERS] > 0
        if effect == "COFFEE_HOUSE":
            return bool(self._stone_slots())
        if effect == "WHITEHALL":
            return bool(self._whitehall_targets())
        return effect in ("TOWN_HOUSES", "LLOYDS", "PUBLIC_HOUSES")

    def _run_city(self) -> Steps:
        """Action 2."""
        while True:
            cards = self._activatable()
            beside = self._between(cards) if self.turn.activations else set()
            choice = yield from self._ask("ACTIVATE", set(cards) | beside)
            if choice == DONE:
                break
            if choice in (EXCHANGE, LOAN):
                yield from self._aside(choice)
                continue
            stacks = [stack for stack in self._showing(choice, self.me.stacks) if self._can_activate(stack)]
            yield from self._activate(max(stacks, key=lambda stack: stack.money))  # R14.4; max returns the first
            self.turn.activations += 1
        self._population()

    def _population(self) -> None:
        """R9.8, R9.9, R9.15."""
        me = self.me
        ignored = self.turn.pub and self.options.public_houses in ("both", "official")
        result = len(me.stacks) + (0 if ignored else me.hand.total()) - len(me.boroughs)
        me.poverty = max(0, me.poverty + result)
        self.turn.activations, self.turn.pub = 0, False

    def _activate(self, stack: Stack) -> Steps:
        """R9.6, R9.7."""
        card = stack.top
        stack.activated = True
        self.turn.card = card.index
        if card.activation_cost["kind"] == "money":
            self._pay(self.me, card.activation_cost["amount"])
        elif card.activation_cost["kind"] != "none":
            payment = yield from self._ask("ACT_PAY", self._activation_payments(card))
            if card.activation_cost["kind"] == "card_blue" and CARDS[payment].colour != "blue":
                self._pay(self.me, 1)  # O4
            self._expend(payment)
        yield from self._resolve(card, stack)
        yield from self._flip(card, stack)
        self.turn.card, self.turn.repeating = None, False

    def _resolve(self, card: Any, stack: Stack) -> Steps:
        """Icons, then the text (R9.6)."""
        me = self.me
        me.money += card.gain_money
        me.vp += card.gain_vp
        me.poverty = max(0, me.poverty + card.add_poverty - card.remove_poverty)
        effect = card.activation_effect
        if effect == "SHOPS_COLLECT":
            me.money, stack.money = me.money + stack.money, 0
        elif effect == "WHITEHALL":
            yield from self._whitehall(card)
        elif effect == "UNDERGROUND":
            yield from self._place_underground()
        elif effect == "PUBLIC_HOUSES":  # R9.15
            self.turn.pub = me.pub_activated = True
        elif effect == "COFFEE_HOUSE":
            yield from self._coffee_house(stack)
        elif effect == "MONEY_PER_BROWN":  # R9.17
            me.money += self._browns()
        elif effect == "TOWN_HOUSES":  # R9.18
            me.vp += self._town_houses(stack)
        elif effect in ("BRIXTON_PRISON", "MILLBANK_PRISON", "WORKHOUSE"):
            yield from self._expend_hand(effect)
        elif effect == "FIRE_BRIGADE":  # R9.20
            for other in self.others:
                self._pay(other, len(other.boroughs))
        elif effect == "LLOYDS":  # R9.21
            for other in self.others:
                self._pay(other, 2)
                me.money += 2
        elif effect in ("FLEET_STREET", "POLICE_FORCE"):
            yield from self._strike(effect)
        elif effect in ("OMNIBUS", "STEAMBOATS", "TRAIN_STATION"):
            me.money += self._borough_money(effect)

    def _flip(self, card: Any, stack: Stack) -> Steps:
        """R9.7, or a Hospital instead (R9.12). A card that already lies face down stays so (R9.13)."""
        if not card.flips or not stack.face_up:
            return
        hospitals = [other for other in self.me.visible() if other.top.static_effect == "HOSPITAL"]
        if hospitals:
            choice = yield from self._ask("FLIP", {FLIP_SELF, FLIP_HOSPITAL})
            if choice == FLIP_HOSPITAL:
                stack = hospitals[0]
        stack.face_up = False

    # --- R9.13 to R9.24: texts

    def _counted(self) -> list[Any]:
        """The cards that Bridge and Town Houses count (D6, O5)."""
        return self.me.built() if self.options.count_scope == "all" else [stack.top for stack in self.me.visible()]

    def _browns(self) -> int:
        return sum(card.colour == "brown" for card in self._counted())

    def _town_houses(self, stack: Stack) -> int:
        """The card itself counts exactly once, also when it is repeated face down."""
        itself = 0 if self.options.count_scope == "all" or stack.face_up else 1
        return itself + sum(card.colour != "brown" for card in self._counted())

    def _borough_money(self, effect: str) -> int:
        """R9.24."""
        owned = [BOROUGHS[borough] for borough in self.me.boroughs]
        if effect == "OMNIBUS":
            return len(owned)
        return 2 * sum(borough.thames if effect == "STEAMBOATS" else borough.bank == "north" for borough in owned)

    def _whitehall_targets(self) -> list[Stack]:
        return [
            stack
            for stack in self.me.stacks
            if stack.activated
            and stack.top.activation_effect not in ("WHITEHALL", "PUBLIC_HOUSES")
            and self._has_effect(stack.top)
        ]

    def _whitehall(self, whitehall: Any) -> Steps:
        """R9.13."""
        self.turn.repeating = True
        targets = self._whitehall_targets()
        choice = yield from self._ask("WHITEHALL_TARGET", {stack.top.index for stack in targets})
        same = [stack for stack in targets if stack.top.index == choice]
        stack = max(same, key=lambda stack: (stack.money, not stack.face_up))  # R14.4
        self.turn.card = choice
        yield from self._resolve(stack.top, stack)
        yield from self._flip(stack.top, stack)
        self.turn.card = whitehall.index

    def _place_underground(self) -> Steps:
        """R9.14."""
        for left in (2, 1):
            self.turn.counters = left
            places = self.underground_places()
            if not places:
                break
            borough = (yield from self._ask("UNDERGROUND", {BOROUGH + place for place in places})) - BOROUGH
            over_land = self.underground.intersection(BOROUGHS[borough].land_neighbours)
            if self.underground and not over_land:
                self._pay(self.me, DATA["underground"]["river_charge"])
            self.underground.add(borough)
        self.turn.counters = 0

    def underground_places(self) -> set[int]:
        if len(self.underground) == SETUP.underground_counters:
            return set()
        if self.underground:
            near = set().union(*(self._neighbours(borough) for borough in self.underground))
        else:
            near = {CITY} | self._neighbours(CITY)
        return (near & self._owned()) - self.underground

    def _coffee_house(self, stack: Stack) -> Steps:
        """R9.16."""
        choice = yield from self._ask("COFFEE_PICK", self._stone_slots())
        card = self._swap_slot(choice, None)
        self._pay(self.me, CARDS[card].cost)
        self._lay(card, stack)

    def _stone_slots(self) -> list[int]:
        return [action for action, card in self._slots().items() if CARDS[card].stone_base]

    def _expend_hand(self, effect: str) -> Steps:
        """R9.19."""
        me = self.me
        workhouse = effect == "WORKHOUSE"
        self.turn.expended = 0
        while workhouse or self.turn.expended < 3:
            cards = [card for card in me.types() if not workhouse or card == PAUPERS]
            if not cards:
                break
            choice = yield from self._ask("EXPEND", cards + ([DONE] if self.turn.expended else []))
            if choice == DONE:
                break
            self._expend(choice)
            self.turn.expended += 1
            me.poverty = max(0, me.poverty - 1)
            me.vp += effect == "MILLBANK_PRISON"
            me.money += workhouse
        self.turn.expended = 0

    def _strike(self, effect: str) -> Steps:
        """R9.22, R9.23."""
        if effect == "POLICE_FORCE" and self.me.poverty == 0:
            return
        choice = yield from self._ask("OPPONENT", range(OPPONENT, OPPONENT + len(self.others)))
        victim = self.others[choice - OPPONENT]
        if effect == "FLEET_STREET":
            victim.poverty += 2
        else:
            victim.poverty += 1
            self.me.poverty -= 1

    # --- R10: boroughs

    def _owned(self) -> set[int]:
        return set().union(*(player.boroughs for player in self.players))

    @staticmethod
    def _neighbours(borough: int) -> set[int]:
        """R3.3, R3.4."""
        return {*BOROUGHS[borough].land_neighbours, *BOROUGHS[borough].bridge_neighbours}

    def open_boroughs(self) -> set[int]:
        """R10.2."""
        owned = self._owned()
        if not owned:
            return {borough.index for borough in BOROUGHS if borough.start}
        return set().union(*(self._neighbours(borough) for borough in owned)) - owned

    def _for_sale(self) -> set[int]:
        """R10.1."""
        supplied = len(self.me.boroughs) < SETUP.building_counters_per_player
        return {BOROUGH + borough for borough in self.open_boroughs()} if supplied else set()

    def _buy(self, borough: int) -> Steps:
        """Action 3."""
        self._pay(self.me, BOROUGHS[borough].cost)
        self.me.boroughs.add(borough)
        yield from self._take("borough", BOROUGHS[borough].cards)

    # --- R13: final scoring

    def final(self) -> list[SimpleNamespace]:
        """Each seat's result if the game ended as it stands (R13.1): vp, poverty (levelled), boroughs, best, rank."""
        poverty = [self._final_poverty(player) for player in self.players]
        results = [
            self._result(player, own - min(poverty))  # R13.9
            for player, own in zip(self.players, poverty, strict=True)
        ]
        keys = [(result.vp, -result.poverty, result.boroughs, result.best) for result in results]  # R13.10
        for result, key in zip(results, keys, strict=True):
            result.rank = 1 + sum(other > key for other in keys)  # R13.11
        return results

    def points(self) -> list[int]:
        """Victory points by seat."""
        return [result.vp for result in self.final()]

    def places(self) -> list[int]:
        """Ranks by seat."""
        return [result.rank for result in self.final()]

    def _final_poverty(self, player: Player) -> int:
        """R13.3."""
        pub = any(stack.top.activation_effect == "PUBLIC_HOUSES" for stack in player.visible())
        spared = self.options.public_houses in ("both", "end_only") and player.pub_activated and pub
        return player.poverty + (0 if spared else player.hand.total())

    def _result(self, player: Player, poverty: int) -> SimpleNamespace:
        repaid = min(player.loans, player.money // LOANS.repay)  # R13.2
        vp = (player.money - repaid * LOANS.repay) // SCORING.pounds_per_vp  # R13.4
        vp += sum(BOROUGHS[borough].vp for borough in player.boroughs)  # R13.5
        vp += SCORING.underground_bonus_vp * len(player.boroughs & self.underground)
        vp += sum(card.vp for card in player.built()) + player.vp  # R13.6
        vp += LOANS.vp_per_unpaid_loan * (player.loans - repaid)  # R13.7
        vp += poverty_penalty(poverty)  # R13.8
        best = max((card.vp for card in player.built()), default=0)
        return SimpleNamespace(vp=vp, poverty=poverty, boroughs=len(player.boroughs), best=best)


def poverty_penalty(points: int) -> int:
    """The change of victory points for a levelled number of poverty points (R13.8)."""
    table: dict[str, int] = SCORING.poverty_penalty
    last = max(map(int, table))
    return int(table[str(min(points, last))]) + SCORING.poverty_penalty_each_above_10 * max(0, points - last)


def choice_action(text: str) -> int:
    """The action of a choice in the notation of cases.json."""
    if text in CHOICES:
        return CHOICES[text]
    kind, _, name = text.partition(":")
    if kind == "card":
        return CARD_NUMBERS[name]
    if kind == "borough":
        return BOROUGH + BOROUGH_NUMBERS[name]
    if kind == "slot":
        row, column = map(int, name.split(","))
        return SLOT + SLOTS_PER_ROW * (row - 1) + column - 1
    return {"peek": PEEK, "opp": OPPONENT}[kind] + int(name) - 1
