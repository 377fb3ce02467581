"""A game state is one element of a structured numpy array. This file declares, copies, compares and stores them.

`Field` is one line of a game's `state.py`; `record_dtype` puts header, options and fields together without holes
(copies would leave garbage in holes, and equal states would differ in bytes).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any, Final

import numpy as np

from tabletop_envs.core.header import HEADER
from tabletop_envs.core.spec import GameSpec, Settings
from tabletop_envs.errors import CorruptDataError, GameDefinitionError

PUBLIC: Final = "public"
OWNER: Final = "owner"
HIDDEN: Final = "hidden"


@dataclass(frozen=True)
class Field:
    """One field of a record.

    name; dtype: a signed integer type; shape; legend: what index and value mean; span: the inclusive range of values;
    sees: `PUBLIC`, `OWNER` (first axis = seat; only that seat knows) or `HIDDEN` (nobody knows);
    screened: it is not shown, but changes in the open alone, so that whoever remembers all knows it: `determinize` may
    keep it, and it may be shown when the game is over; opened_by: the flag with which it may always be shown.
    """

    name: str
    dtype: Any
    shape: tuple[int, ...]
    legend: str
    span: tuple[int, int]
    sees: str = PUBLIC
    screened: bool = False
    opened_by: str | None = None


def record_dtype(spec: GameSpec, fields: Sequence[Field]) -> np.dtype:
    """The aligned record dtype of a game: header, then options and fields, wide ones first, then a pad.

    Its element type is `numpy.record`, so that `s.field` works compiled and not.
    """
    columns = [(o.name, np.dtype(o.dtype), o.shape) for o in spec.options]
    columns += [(f.name, np.dtype(f.dtype), f.shape) for f in fields]
    names = [name for name, _, _ in columns] + list(HEADER.names or ())
    if len(set(names)) != len(names):
        raise GameDefinitionError(f"{spec.id}: a field, option or header field has a name twice")
    for name, dtype, _ in columns:
        if dtype.kind != "i":
            raise GameDefinitionError(f"{spec.id}: field {name!r} is {dtype}, not a signed integer")
    for field in fields:
        bounds = np.iinfo(field.dtype)
        if not bounds.min <= field.span[0] <= field.span[1] <= bounds.max:
            raise GameDefinitionError(f"{spec.id}: the range {field.span} of {field.name!r} does not fit {field.dtype}")
    columns.sort(key=lambda column: -column[1].itemsize)
    layout = [(name, *HEADER.fields[name][:1]) for name in HEADER.names or ()] + columns  # type: ignore[index]
    aligned = np.dtype(layout, align=True)
    used = sum(aligned[name].itemsize for name in aligned.names or ())
    if used < aligned.itemsize:
        aligned = np.dtype([*layout, ("record_pad", np.int8, (aligned.itemsize - used,))], align=True)
    return np.dtype((np.record, aligned))


def clone(states: np.ndarray) -> np.ndarray:
    """An independent copy of an array of records."""
    # numpy copies records field by field; bytes are many times as fast
    copied: np.ndarray = np.frombuffer(bytearray(states.tobytes()), dtype=states.dtype)
    return copied


def to_bytes(states: np.ndarray) -> bytes:
    """The records as bytes, for storage on one machine with one version of the package."""
    return states.tobytes()


def from_bytes(dtype: np.dtype, data: bytes) -> np.ndarray:
    """The records of `to_bytes`; raises CorruptDataError when the length does not fit."""
    if len(data) == 0 or len(data) % dtype.itemsize:
        raise CorruptDataError(
            f"{len(data)} bytes are not records of {dtype.itemsize} bytes: they come from another game or version"
        )
    states: np.ndarray = np.frombuffer(bytearray(data), dtype=dtype)
    return states


def digest(states: np.ndarray) -> str:
    """16 hex digits of the records' bytes."""
    return hashlib.sha256(states.tobytes()).hexdigest()[:16]


def differences(left: np.ndarray, right: np.ndarray) -> list[str]:
    """What differs between two one-element arrays, a line per entry of a field."""
    if left.tobytes() == right.tobytes():
        return []
    lines = []
    for name in left.dtype.names or ():
        a, b = np.asarray(left[name][0]), np.asarray(right[name][0])
        if not np.array_equal(a, b):
            for index in np.argwhere(a != b):
                where = f"[{', '.join(map(str, index))}]" if len(index) else ""
                lines.append(f"{name}{where}: {a[tuple(index)]} != {b[tuple(index)]}")
    return lines


@cache
def _bounds(dtype: np.dtype, fields: tuple[Field, ...]) -> list[tuple[Any, np.ndarray, np.ndarray, np.ndarray]]:
    """For each width of integer: its type, which of the record's words of that width count, and their bounds."""
    words: dict[Any, list[tuple[int, int, int]]] = {}
    for field in fields:
        kind, offset = np.dtype(field.dtype), dtype.fields[field.name][1]  # type: ignore[index]
        first = offset // kind.itemsize
        words.setdefault(kind, []).extend((first + n, *field.span) for n in range(prod(field.shape)))
    return [(kind, *np.array(rows, dtype=np.int64).T) for kind, rows in words.items()]


def out_of_range(states: np.ndarray, fields: Sequence[Field]) -> list[str]:
    """The fields of which some value lies outside the declared range."""
    for kind, where, low, high in _bounds(states.dtype, tuple(fields)):
        values = states.view(kind).reshape(len(states), -1)[:, where]
        if (values < low).any() or (values > high).any():
            break
    else:
        return []
    wrong = []
    for field in fields:
        values = states[field.name]
        if values.size and (values.min() < field.span[0] or values.max() > field.span[1]):
            wrong.append(f"{field.name}: {values.min()}..{values.max()} outside {field.span[0]}..{field.span[1]}")
    return wrong


def template(dtype: np.dtype, settings: Settings) -> np.ndarray:
    """One zeroed record with options, caps and number of players filled in, ready for a key and `setup`."""
    states = np.zeros(1, dtype=dtype)
    for name, value in settings.encoded().items():
        states[name][0] = value
    return states
