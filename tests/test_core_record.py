"""Records: no holes, one dtype for compiled and plain code, storage, comparison, ranges."""

from __future__ import annotations

import numpy as np
import pytest

from tabletop_envs.core import record
from tabletop_envs.core.header import HEADER
from tabletop_envs.core.record import Field, record_dtype
from tabletop_envs.core.spec import Counts, Flag, GameSpec
from tabletop_envs.errors import CorruptDataError, GameDefinitionError

pytestmark = pytest.mark.nojit

SPEC = GameSpec(
    "sample", 0, "Sample", "A record.", "sample", 2, 3, {2: 9, 3: 12}, 1,
    options=(Flag("quick", "R1", "x"), Counts("deck", "R2", "x", ("a", "b", "c"), (1, 1, 1), 1, 5)),
)  # fmt: skip
FIELDS = (
    Field("small", np.int8, (3,), "x", (-1, 4)),
    Field("wide", np.int64, (), "x", (0, 2**45)),
    Field("middle", np.int16, (2, 2), "x", (0, 900)),
    Field("odd", np.int8, (), "x", (0, 1)),
)
DTYPE = record_dtype(SPEC, FIELDS)


def test_a_record_has_no_holes() -> None:
    offset = 0
    for name in DTYPE.names or ():
        assert (DTYPE.fields or {})[name][1] == offset
        offset += DTYPE[name].itemsize
    assert offset == DTYPE.itemsize
    assert DTYPE.itemsize % 8 == 0
    assert DTYPE.isalignedstruct


def test_a_record_begins_with_the_header_then_wide_fields_first() -> None:
    names = DTYPE.names or ()
    header = HEADER.names or ()
    assert names[: len(header)] == header
    assert names[len(header) :] == ("wide", "deck", "middle", "quick", "small", "odd", "record_pad")
    assert all((DTYPE.fields or {})[name][1] == (HEADER.fields or {})[name][1] for name in header)


def test_fields_are_read_by_name_with_and_without_the_jit() -> None:
    states = np.zeros(2, dtype=DTYPE)
    s = states[1]
    s.small[2] = 4
    s.wide = 2**44
    assert states["small"].tolist() == [[0, 0, 0], [0, 0, 4]]
    assert states["wide"].tolist() == [0, 2**44]
    assert DTYPE.type is np.record


def test_faulty_declarations() -> None:
    with pytest.raises(GameDefinitionError, match="not a signed integer"):
        record_dtype(SPEC, [Field("a", np.uint8, (), "", (0, 1))])
    with pytest.raises(GameDefinitionError, match="not a signed integer"):
        record_dtype(SPEC, [Field("a", np.float32, (), "", (0, 1))])
    for taken in ("seat", "quick", "small"):
        with pytest.raises(GameDefinitionError, match="a name twice"):
            record_dtype(SPEC, [*FIELDS, Field(taken, np.int8, (), "", (0, 1))])
    for span in ((0, 128), (-129, 0), (3, 2)):
        with pytest.raises(GameDefinitionError, match="does not fit"):
            record_dtype(SPEC, [Field("a", np.int8, (), "", span)])


def test_templates_hold_options_and_number_of_players() -> None:
    states = record.template(DTYPE, SPEC.settings(3, quick=True, deck=[2, 0, 3], max_decisions=7))
    assert states.shape == (1,)
    assert states["num_players"][0] == 3
    assert states["quick"][0] == 1
    assert states["deck"][0].tolist() == [2, 0, 3]
    assert states["max_decisions"][0] == 7
    assert states["auto_forced"][0] == 1
    assert states["key"][0] == 0


def test_clones_are_independent() -> None:
    states = np.zeros(2, dtype=DTYPE)
    copy = record.clone(states)
    copy["small"] = 1
    assert not states["small"].any()


def test_bytes_come_back() -> None:
    states = np.zeros(3, dtype=DTYPE)
    states["wide"] = [1, 2, 3]
    again = record.from_bytes(DTYPE, record.to_bytes(states))
    assert again.dtype == DTYPE
    assert again["wide"].tolist() == [1, 2, 3]
    again["wide"] = 0  # writable, and nobody else's
    assert states["wide"].tolist() == [1, 2, 3]


@pytest.mark.parametrize("data", [b"", b"1", bytes(DTYPE.itemsize - 1), bytes(DTYPE.itemsize + 1)])
def test_bytes_of_something_else(data: bytes) -> None:
    with pytest.raises(CorruptDataError, match="another game or version"):
        record.from_bytes(DTYPE, data)


def test_digests_follow_the_bytes() -> None:
    states = np.zeros(1, dtype=DTYPE)
    first = record.digest(states)
    assert len(first) == 16
    states["odd"] = 1
    assert record.digest(states) != first
    states["odd"] = 0
    assert record.digest(states) == first


def test_differences_name_every_entry() -> None:
    left, right = np.zeros(1, dtype=DTYPE), np.zeros(1, dtype=DTYPE)
    assert record.differences(left, right) == []
    right["wide"] = 5
    right["middle"][0, 1, 0] = 7
    right["small"][0, 2] = -1
    assert record.differences(left, right) == ["wide: 0 != 5", "middle[1, 0]: 0 != 7", "small[2]: 0 != -1"]


def test_ranges() -> None:
    states = np.zeros(2, dtype=DTYPE)
    assert record.out_of_range(states, FIELDS) == []
    states["small"][1] = [-1, 4, 0]
    assert record.out_of_range(states, FIELDS) == []
    states["small"][1, 1] = 5
    states["wide"][0] = -1
    assert record.out_of_range(states, FIELDS) == ["small: -1..5 outside -1..4", f"wide: -1..0 outside 0..{2**45}"]
