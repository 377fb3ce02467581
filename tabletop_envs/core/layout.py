"""Actions and observations as named blocks: one declaration yields offsets, spaces, decoders and doc tables.

A block with a `board` shape is a stack of planes over that board (its last two axes); networks that know about
layouts treat such blocks as images.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, Final

import gymnasium
import numpy as np

from tabletop_envs.core.checks import is_whole
from tabletop_envs.errors import GameDefinitionError, IllegalActionError

SIDES: Final = 4  # of a cell: north, east, south, west


@dataclass(frozen=True)
class Block:
    """A named run of indices.

    name; shape: row-major, () for a single index; legend: what an index means; clause: of RULES.md;
    board: (rows, columns) when the last axes of the shape are a board; option: the option with which alone it exists;
    secret: the other seats do not learn which action it was when it is made (actions only); links: the block's planes
    that open a cell to its northern, eastern, southern and western neighbour, four tuples of numbers: neighbours that
    are open to each other belong together (a path, a district), and a network may add up what lies on them; entities:
    the first axis counts things of one kind (the tiles on offer), the same ones in all such blocks of a game.
    """

    name: str
    shape: tuple[int, ...]
    legend: str
    clause: str = ""
    board: tuple[int, int] | None = None
    option: str | None = None
    secret: bool = False
    links: tuple[tuple[int, ...], ...] = ()
    entities: bool = False

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def planes(self) -> int:
        """How many planes a board block stacks; 0 for a flat block."""
        return self.size // prod(self.board) if self.board else 0


def demand_same_entities(blocks: Iterable[Block]) -> None:
    """Raises GameDefinitionError where blocks of entities are boards, or list different numbers of them."""
    listed = [block for block in blocks if block.entities]
    if any(block.board or not block.shape for block in listed) or len({block.shape[0] for block in listed}) > 1:
        names = " and ".join(repr(block.name) for block in listed)
        raise GameDefinitionError(f"the entities of {names} are not so many flat facts each, of the same things")


class Layout:
    """Blocks one after another.

    Raises GameDefinitionError for two blocks of one name, a board that does not divide its block, links that are not
    planes for four sides, blocks of entities that are boards or of different length, or an unconditional block behind
    one that belongs to an option.
    """

    def __init__(self, *blocks: Block) -> None:
        self.blocks = blocks
        self._start: dict[str, int] = {}
        offset = 0
        for block in blocks:
            if block.name in self._start:
                raise GameDefinitionError(f"two blocks are called {block.name!r}: rename one")
            if block.board and block.size % prod(block.board):
                raise GameDefinitionError(f"block {block.name!r} is no stack of boards of {block.board}")
            if block.links and (len(block.links) != SIDES or not set().union(*block.links) <= set(range(block.planes))):
                raise GameDefinitionError(f"the links of block {block.name!r} are not some of its planes for each side")
            self._start[block.name] = offset
            offset += block.size
        demand_same_entities(blocks)
        conditional = [block.option is not None for block in blocks]
        if conditional != sorted(conditional):
            raise GameDefinitionError("blocks of an option stand last")
        self.full_size = offset

    def present(self, options: Mapping[str, Any]) -> list[Block]:
        """The blocks that exist with these options."""
        return [block for block in self.blocks if block.option is None or options[block.option]]

    def size(self, options: Mapping[str, Any]) -> int:
        """The number of indices with these options."""
        return sum(block.size for block in self.present(options))

    def sizes(self) -> set[int]:
        """The sizes with whatever options."""
        names = sorted({block.option for block in self.blocks if block.option is not None})
        chosen = product((False, True), repeat=len(names))
        return {self.size(dict(zip(names, values, strict=True))) for values in chosen}

    def start(self, name: str) -> int:
        """The first index of a block, with every option's blocks present."""
        return self._start[name]

    def block(self, name: str) -> Block:
        """The block of this name."""
        return next(block for block in self.blocks if block.name == name)

    def rows(self) -> list[tuple[str, int, str, str]]:
        """The doc table: (indices, size, name, legend) a block."""
        rows = []
        for block in self.blocks:
            first = self._start[block.name]
            span = str(first) if block.size == 1 else f"{first}..{first + block.size - 1}"
            legend = block.legend + (f" ({block.clause})" if block.clause else "")
            if block.option:
                span, legend = "at the end", f"{legend}; only with option `{block.option}`"
            rows.append((span, block.size, block.name, legend))
        return rows

    def markdown(self) -> str:
        """The doc table as Markdown."""
        lines = ["| indices | size | block | meaning |", "| --- | --- | --- | --- |"]
        lines += [f"| {span} | {size} | `{name}` | {legend} |" for span, size, name, legend in self.rows()]
        return "\n".join(lines)

    def digest(self) -> str:
        """16 hex digits over names, shapes and conditions: equal for equal meanings of every index."""
        facts = repr([(block.name, block.shape, block.option) for block in self.blocks])
        return hashlib.sha256(facts.encode()).hexdigest()[:16]


class ActionLayout(Layout):
    """The action space of a game, the same for every number of players; options may append blocks."""

    def space(self, options: Mapping[str, Any]) -> gymnasium.spaces.Discrete:
        """A new `Discrete` space."""
        return gymnasium.spaces.Discrete(self.size(options))

    def encode(self, name: str, *index: int) -> int:
        """The action of a block and an index into its shape."""
        block = self.block(name)
        return self._start[name] + (int(np.ravel_multi_index(index, block.shape)) if block.shape else 0)

    def decode(self, action: int) -> tuple[str, tuple[int, ...]]:
        """The block and the index into its shape; raises IllegalActionError outside the space."""
        self.check(action)
        for block in self.blocks:
            offset = action - self._start[block.name]
            if offset < block.size:
                return block.name, tuple(int(i) for i in np.unravel_index(offset, block.shape)) if block.shape else ()
        raise AssertionError("unreachable: the action was checked")

    def is_secret(self, action: int) -> bool:
        """Whether the other seats do not learn which action it was; raises IllegalActionError outside the space."""
        return self.block(self.decode(action)[0]).secret

    def check(self, action: Any, size: int | None = None) -> int:
        """The action as an int; raises IllegalActionError when it is not a whole number of the space.

        size: of the space with the options in play (None: with every option).
        """
        limit = self.full_size if size is None else size
        if not is_whole(action, 0, limit - 1):
            raise IllegalActionError(f"action {action!r} is not a whole number from 0 to {limit - 1}")
        return int(action)


class ObservationLayout(Layout):
    """The flat observation of a game: float32 in [0, 1]; options may append blocks."""

    def space(self, options: Mapping[str, Any]) -> gymnasium.spaces.Box:
        """A new `Box` space."""
        return gymnasium.spaces.Box(0.0, 1.0, (self.size(options),), np.float32)

    def decode(self, vector: np.ndarray, options: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """The vector's blocks by name, each in its shape (views)."""
        parts, offset = {}, 0
        for block in self.present(options):
            parts[block.name] = vector[offset : offset + block.size].reshape(block.shape)
            offset += block.size
        return parts
