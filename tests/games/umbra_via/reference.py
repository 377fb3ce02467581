"""Umbra Via read a second time: the whole rulebook in plain Python, slow and simple, as a witness for the game's core.

It knows nothing of the core: cells are (row, column), openings are letters, a stack is a multiset, players are counted
in lists. Chance comes from outside (`Chance`), so that it can be driven beside the core with the core's own outcomes.
Clause numbers are those of RULES.md.

    model = Model(3, Dice(random.Random(7)), special_tiles=("void",))
    model.settle()
    while not model.over:
        model.apply(min(model.legal()))
        model.settle()
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

Cell = tuple[int, int]

CELLS: list[Cell] = [(row, col) for row in range(4) for col in range(4)]
CENTRE: list[Cell] = [(1, 1), (1, 2), (2, 1), (2, 2)]  # R1.1
STEPS = {"N": (-1, 0), "E": (0, 1), "S": (1, 0), "W": (0, -1)}
OPPOSITE = {"N": "S", "E": "W", "S": "N", "W": "E"}
CLOCKWISE = {"N": "E", "E": "S", "S": "W", "W": "N"}  # R1.4

SLOTS = 4
ENERGY, SOULS, SOUL_TILE = 32, 6, 11  # R2.3, R2.5
DRAWN = 3  # R4.2
BASE = {"straight": "NS", "bend": "NE", "tee": "ESW", "four_point": "", "void": "", "block": ""}  # R1.3
REGULAR_MIX = {"straight": 6, "bend": 6, "tee": 5}

FIRST_CELL, DECLINE = 4, 20  # actions 0 to 3 are slots, 4 to 19 cells


def turned(openings: str, quarter_turns: int) -> str:
    """R1.4: the openings of a tile that was turned clockwise, in the order N, E, S, W."""
    for _ in range(quarter_turns):
        openings = "".join(CLOCKWISE[side] for side in openings)
    return "".join(side for side in STEPS if side in openings)


def beside(cell: Cell) -> dict[str, Cell]:
    """The cells that share an edge with a cell, by direction."""
    moved = {side: (cell[0] + row, cell[1] + col) for side, (row, col) in STEPS.items()}
    return {side: other for side, other in moved.items() if other in CELLS}


@dataclass
class Tile:
    """A tile on the altar or on the board, with the flowers of each player on it."""

    kind: str
    openings: str
    energy: list[int]
    souls: list[int]

    def flowers(self) -> int:
        return sum(self.energy) + sum(self.souls)


class Chance(Protocol):
    """R12.1: whatever is left to chance. A shuffled stack is a multiset of which one tile at a time is drawn."""

    def track(self, players: int) -> Sequence[int]:
        """R2.4: the players from the top of the track to its bottom."""

    def tile(self, stack: Mapping[str, int]) -> tuple[str, str]:
        """R3.1, R3.3: the kind of the tile on top of the stack, and its openings as it turns up."""

    def hand(self, seat: int, souls: int, energy: int) -> tuple[int, int]:
        """R4.2: the souls and the energy that a seat draws from a bag with so many of them."""


class Dice:
    """Chance out of a random generator, for games of the model alone."""

    def __init__(self, generator: random.Random) -> None:
        self.generator = generator

    def track(self, players: int) -> Sequence[int]:
        return self.generator.sample(range(players), players)

    def tile(self, stack: Mapping[str, int]) -> tuple[str, str]:
        kind = self.generator.choice(list(Counter(stack).elements()))
        return kind, turned(BASE[kind], self.generator.randrange(4))

    def hand(self, seat: int, souls: int, energy: int) -> tuple[int, int]:
        bag = ["soul"] * souls + ["energy"] * energy
        drawn = self.generator.sample(bag, min(DRAWN, len(bag)))
        return drawn.count("soul"), drawn.count("energy")


class Model:
    """A game. `seat` is asked in `phase`; while it is None, `todo` names the automatic step that comes next.

    board, waiting: by cell; altar: by slot; order: the slots in the order of their counters, `turn` of them resolved;
    bag_souls, bag_energy, hand_souls, hand_energy, pending, claims, removed: by seat; pending: slot -> [souls, energy];
    track: seats from top to bottom; summons: the paths that the last decision completed, each with its awards.
    """

    def __init__(
        self,
        players: int,
        chance: Chance,
        *,
        special_tiles: Sequence[str] = (),
        victory_target: int = 13,
        summon_ties: str = "track_move",
        tile_mix: Mapping[str, int] = REGULAR_MIX,
        max_rounds: int = 150,
    ) -> None:
        """R2: the setup."""
        self.players = players
        self.chance = chance
        self.special_tiles = tuple(special_tiles)
        self.victory_target = victory_target
        self.summon_ties = summon_ties
        self.max_rounds = max_rounds

        self.board: dict[Cell, Tile] = {}  # R2.1
        self.waiting: dict[Cell, list[int]] = {}
        self.altar: list[Tile | None] = [None] * SLOTS
        self.discard: Counter[str] = Counter()
        self.stack = Counter(tile_mix) + Counter(special_tiles)  # R2.2
        self.bag_energy = [ENERGY] * players  # R2.3
        self.bag_souls = [SOULS] * players
        self.track = list(chance.track(players))  # R2.4
        self.claims = [0] * players  # R2.5
        self.removed = [0] * players

        self.hand_souls = [0] * players
        self.hand_energy = [0] * players
        self.pending = [self._nothing_pending() for _ in range(players)]
        self.order: list[int] = []
        self.turn = 0
        self.round = 0
        self.seat: int | None = None
        self.phase: str | None = None
        self.todo = "begin_round"
        self.placed: Cell | None = None  # the four-point tile whose energy may move
        self.summons: list[tuple[list[Cell], list[tuple[int, int]]]] = []
        self.first_at_target: int | None = None
        self.over = False
        self.end_reason: str | None = None

    @staticmethod
    def _nothing_pending() -> list[list[int]]:
        return [[0, 0] for _ in range(SLOTS)]

    # --- decisions

    def legal(self) -> set[int]:
        """The actions among which the seat has to choose; none while nobody is asked."""
        if self.seat is None:
            return set()
        if self.phase in ("bid1", "bid2"):  # D2
            return set(self.biddable())
        if self.phase == "place":  # D3
            cells = self.open_cells()
        elif self.phase == "void_target":  # D4
            cells = self.empty_cells()
        else:  # D5
            assert self.placed is not None
            cells = self.tiles_beside(self.placed)
        actions = {FIRST_CELL + CELLS.index(cell) for cell in cells}
        return actions | {DECLINE} if self.phase == "four_point_target" else actions

    def apply(self, action: int) -> None:
        """One decision of the seat, with all that follows from it before the next automatic step."""
        if action not in self.legal():
            raise ValueError(f"action {action} is not legal for seat {self.seat} in phase {self.phase}")
        seat = self.seat
        assert seat is not None
        self.seat, self.summons = None, []
        if self.phase in ("bid1", "bid2"):
            self._bid(seat, action)
        elif self.phase == "place":
            self._place(seat, CELLS[action - FIRST_CELL])
        elif self.phase == "void_target":
            self._leave_waiting(CELLS[action - FIRST_CELL])
        else:
            self._move_energy(None if action == DECLINE else CELLS[action - FIRST_CELL])

    def advance(self) -> None:
        """One automatic step."""
        assert self.seat is None
        assert not self.over
        steps: dict[str, Callable[[], None]] = {
            "begin_round": self._begin_round,
            "draw": self._draw,
            "ask_bidder": self._ask_bidder,
            "number_tiles": self._number_tiles,
            "next_tile": self._next_tile,
        }
        steps[self.todo]()

    def settle(self, auto_forced: bool = False) -> None:
        """All automatic steps up to the next decision or the end; with D7, decisions without a choice as well."""
        while not self.over:
            if self.seat is None:
                self.advance()
            elif auto_forced and len(self.legal()) == 1:
                self.apply(min(self.legal()))
            else:
                return

    # --- R3: reveal

    def _begin_round(self) -> None:
        if not any(self.bag_souls) and not any(self.bag_energy):
            return self._end("stalemate")  # R9.5a
        if self.round == self.max_rounds:
            return self._end("cap")  # R9.5b
        self.round += 1
        for slot in range(SLOTS):
            self._reveal(slot)
        if not self.biddable():
            return self._end("stalemate")  # R9.5, last sentence
        self.phase, self.todo = "bid1", "draw"

    def _reveal(self, slot: int) -> None:
        if not self.stack:  # R3.2
            self.stack, self.discard = self.discard, Counter()
        if not self.stack:
            return
        kind, openings = self.chance.tile(self.stack)  # R3.1
        assert self.stack[kind] > 0
        self.stack -= Counter([kind])
        assert openings in [turned(BASE[kind], number) for number in range(4)]  # R3.3
        self.altar[slot] = Tile(kind, openings, [0] * self.players, [0] * self.players)

    # --- R4: bidding

    def biddable(self) -> list[int]:
        """R4.4, R10.4: the slots on which flowers may be bid."""
        return [slot for slot, tile in enumerate(self.altar) if tile is not None and tile.kind != "block"]

    def _draw(self) -> None:
        """R4.2, R4.6: all players draw before anyone decides."""
        for seat in range(self.players):
            souls, energy = self.chance.hand(seat, self.bag_souls[seat], self.bag_energy[seat])
            assert souls + energy == min(DRAWN, self.bag_souls[seat] + self.bag_energy[seat])
            assert 0 <= souls <= self.bag_souls[seat]
            assert 0 <= energy <= self.bag_energy[seat]
            self.bag_souls[seat] -= souls
            self.bag_energy[seat] -= energy
            self.hand_souls[seat] = souls
            self.hand_energy[seat] = energy
        self.todo = "ask_bidder"

    def _ask_bidder(self) -> None:
        """D2: seats in order, R4.6: those that have flowers; then all bids are shown together."""
        for seat in range(self.players):
            if self.hand_souls[seat] + self.hand_energy[seat] > 0:
                self.seat = seat
                return
        self._show_bids()

    def asks_soul(self) -> bool:
        """D2: souls first, then energy."""
        return self.seat is not None and self.hand_souls[self.seat] > 0

    def _bid(self, seat: int, slot: int) -> None:
        if self.hand_souls[seat] > 0:
            self.hand_souls[seat] -= 1
            self.pending[seat][slot][0] += 1
        else:
            self.hand_energy[seat] -= 1
            self.pending[seat][slot][1] += 1
        if self.hand_souls[seat] + self.hand_energy[seat] > 0:  # R4.3
            self.seat = seat
        else:
            self.todo = "ask_bidder"

    def _show_bids(self) -> None:
        """R4.5."""
        for seat in range(self.players):
            for slot, (souls, energy) in enumerate(self.pending[seat]):
                tile = self.altar[slot]
                if tile is None:
                    assert souls + energy == 0
                    continue
                tile.souls[seat] += souls
                tile.energy[seat] += energy
            self.pending[seat] = self._nothing_pending()
        if self.phase == "bid1":  # R4.1
            self.phase, self.todo = "bid2", "draw"
        else:
            self.phase, self.todo = None, "number_tiles"

    # --- R5: order and winners

    def _number_tiles(self) -> None:
        for slot, tile in enumerate(self.altar):
            if tile is not None and tile.flowers() == 0:  # R5.1; nobody can have bid on a block tile
                self.discard[tile.kind] += 1
                self.altar[slot] = None
        counts = {slot: tile.flowers() for slot, tile in enumerate(self.altar) if tile is not None}
        self.order = sorted(counts, key=lambda slot: (counts[slot], slot))  # R5.2
        self.turn = 0
        self.todo = "next_tile"

    def _next_tile(self) -> None:
        """R5.5: a tile's winner is determined when its turn comes."""
        if self.turn == len(self.order):
            self.order, self.turn, self.todo = [], 0, "begin_round"  # R9.4
            return
        tile = self.tile_in_turn()
        seat = self._winner(tile)
        for other in range(self.players):  # R5.6
            self.removed[other] += tile.souls[other]
            tile.souls[other] = 0
        if tile.kind != "void":
            self.seat, self.phase = seat, "place"
        elif sum(tile.energy) > 0:  # R10.3
            self.seat, self.phase = seat, "void_target"
        else:
            self._discard_void()

    def tile_in_turn(self) -> Tile:
        """The tile whose turn it is."""
        tile = self.altar[self.order[self.turn]]
        assert tile is not None
        return tile

    def _winner(self, tile: Tile) -> int:
        bids = [energy + 2 * souls for energy, souls in zip(tile.energy, tile.souls, strict=True)]  # R5.3
        tied = [seat for seat in range(self.players) if bids[seat] == max(bids)]
        return self._break_tie(tied, moves=True)  # R5.4

    def _break_tie(self, tied: Sequence[int], moves: bool) -> int:
        """R5.4, R8.5: of several players the one highest on the track; that marker may go to the bottom."""
        highest = min(tied, key=self.track.index)
        if len(tied) > 1 and moves:
            self.track.remove(highest)
            self.track.append(highest)
        return highest

    # --- R6: placement

    def empty_cells(self) -> list[Cell]:
        """The cells without a tile; flowers may wait on them."""
        return [cell for cell in CELLS if cell not in self.board]

    def tiles_beside(self, cell: Cell) -> list[Cell]:
        """The occupied cells that share an edge with a cell, in the order N, E, S, W."""
        return [other for other in beside(cell).values() if other in self.board]

    def open_cells(self) -> list[Cell]:
        """R6.2, R6.3: where the next tile may be placed."""
        if not self.board:
            return CENTRE
        return [cell for cell in self.empty_cells() if self.tiles_beside(cell)]

    def _place(self, seat: int, cell: Cell) -> None:
        tile = self.tile_in_turn()
        self.altar[self.order[self.turn]] = None
        self.board[cell] = tile  # R6.1
        for other, energy in enumerate(self.waiting.pop(cell, [])):  # R10.3
            tile.energy[other] += energy
        if tile.kind == "four_point" and sum(tile.energy) > 0 and self.tiles_beside(cell):  # D5
            self.seat, self.phase, self.placed = seat, "four_point_target", cell
        else:
            self._summon_around(cell)

    def _move_energy(self, target: Cell | None) -> None:
        """R10.2: all energy on the four-point tile goes to one neighbouring tile, or stays."""
        assert self.placed is not None
        cell, self.placed = self.placed, None
        if target is not None:
            for seat in range(self.players):
                self.board[target].energy[seat] += self.board[cell].energy[seat]
                self.board[cell].energy[seat] = 0
        self._summon_around(cell)

    def _leave_waiting(self, cell: Cell) -> None:
        """R10.3: the energy on the void tile waits on an empty cell."""
        already = self.waiting.get(cell, [0] * self.players)
        self.waiting[cell] = [a + b for a, b in zip(already, self.tile_in_turn().energy, strict=True)]
        self._discard_void()

    def _discard_void(self) -> None:
        self.altar[self.order[self.turn]] = None
        self.discard["void"] += 1
        self.summons = []
        self._tile_done()

    def _tile_done(self) -> None:
        self.turn += 1
        self.phase, self.todo = None, "next_tile"

    # --- R7: paths

    def path(self, cell: Cell) -> set[Cell]:
        """R7.1: the tiles that hang together with the tile on a cell; none for a tile without openings."""
        if not self.board[cell].openings:
            return set()
        found, rest = {cell}, [cell]
        while rest:
            here = rest.pop()
            for side, other in beside(here).items():
                if other not in self.board or other in found:
                    continue
                if side in self.board[here].openings and OPPOSITE[side] in self.board[other].openings:
                    found.add(other)
                    rest.append(other)
        return found

    def complete(self, path: set[Cell]) -> bool:
        """R7.1: whether no opening of the path faces an empty cell of the board."""
        for cell in path:
            for side, other in beside(cell).items():
                if side in self.board[cell].openings and other not in self.board:
                    return False
        return True

    def complete_paths(self, placed: Cell) -> list[list[Cell]]:
        """R7.4, R8.7: the complete paths of the whole board, in the order in which they score."""
        paths: list[list[Cell]] = []
        for cell in [placed, *self.tiles_beside(placed)]:
            path = sorted(self.path(cell))
            if path and path not in paths and self.complete(set(path)):
                paths.append(path)
        for cell in self.board:  # R7.3: nothing else can have become complete
            path = sorted(self.path(cell))
            assert not path or path in paths or not self.complete(set(path))
        return paths

    # --- R8: summoning

    def _summon_around(self, cell: Cell) -> None:
        """R6.6: what the tile on the cell completed is paid, then cleared."""
        paths = self.complete_paths(cell)
        self.summons = [(path, self._pay(path)) for path in paths]
        for path in paths:
            self._clear(path)
        self._tile_done()
        if self.first_at_target is not None:  # R9.3
            self._end("target")

    def _pay(self, path: Sequence[Cell]) -> list[tuple[int, int]]:
        """R9.1 to R9.3: the awards of a path, in the order of payment."""
        awards = list(self._ranks(path))
        for seat, award in awards:
            self.bag_souls[seat] += min(award, self.soul_tile(seat))
            self.claims[seat] += award
            if self.claims[seat] >= self.victory_target and self.first_at_target is None:
                self.first_at_target = seat
        return awards

    def _ranks(self, path: Sequence[Cell]) -> Iterator[tuple[int, int]]:
        """The seats that earn something and their awards, from the first rank down."""
        sums = [sum(self.board[cell].energy[seat] for cell in path) for seat in range(self.players)]  # R8.1
        award = len(path)  # R8.2
        left = [seat for seat in range(self.players) if sums[seat] > 0]  # R8.4
        while left and award >= 1:
            tied = [seat for seat in left if sums[seat] == max(sums[other] for other in left)]
            if self.summon_ties == "friendly":  # OPT-3
                rank = sorted(tied, key=self.track.index)
            else:
                rank = [self._break_tie(tied, moves=self.summon_ties == "track_move")]  # R8.5
            for seat in rank:
                yield seat, award
            left = [seat for seat in left if seat not in rank]
            award //= 2  # R8.3

    def _clear(self, path: Sequence[Cell]) -> None:
        """R8.6."""
        for cell in path:
            tile = self.board.pop(cell)
            self.discard[tile.kind] += 1
            for seat in range(self.players):
                self.bag_energy[seat] += tile.energy[seat]

    # --- R9: goal and end

    def soul_tile(self, seat: int) -> int:
        """R9.1: the flowers left on a seat's soul tile."""
        return max(0, SOUL_TILE - self.claims[seat])

    def _end(self, reason: str) -> None:
        self.over, self.end_reason, self.phase = True, reason, None

    def standing(self) -> list[int]:
        """R9.6: the seats from first to last; of a running game, as if it ended now."""
        seats = range(self.players)
        return sorted(seats, key=lambda s: (s != self.first_at_target, -self.claims[s], self.track.index(s)))

    def points(self) -> list[int]:
        """The claims of each seat, as far as the target."""
        return [min(claims, self.victory_target) for claims in self.claims]

    def places(self) -> list[int]:
        """The place of each seat, 1 = first; no place is shared."""
        return [self.standing().index(seat) + 1 for seat in range(self.players)]
