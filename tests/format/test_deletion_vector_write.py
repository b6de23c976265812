"""Deletion vectors that Lakebed writes: the bytes of the real writer, read back by the reader."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakebed.errors import CorruptTableError, UnsupportedError
from lakebed.format.deletion_vector import (
    DeletionVectorRef,
    EncodedVector,
    read_deletion_vector,
    stored_vector,
)
from lakebed.format.deletion_vector_write import encode_deletion_vector, index_file_of
from lakebed.format.index_manifest import DeletionVectorRange
from lakebed.storage.memory import MemoryFileIO
from support.real_vectors import VECTORS, case_of

PATH = "/t/index/index-a-0"
DATA_FILE = "data-a.parquet"
ROWS = 200_000


def encoded(rows: list[int], *, is_64_bit: bool = False) -> EncodedVector:
    return encode_deletion_vector(
        np.array(rows, np.int64), data_file=DATA_FILE, is_64_bit=is_64_bit
    )


def ref_of(stored: DeletionVectorRange) -> DeletionVectorRef:
    return DeletionVectorRef(
        path=PATH, offset=stored.offset, length=stored.length, cardinality=stored.cardinality
    )


@pytest.mark.parametrize("vector", VECTORS, ids=case_of)
def test_a_vector_has_the_bytes_that_the_real_writer_gives_it(
    vector: dict[str, Any],
) -> None:
    made = encoded(vector["values"], is_64_bit="64-bit" in case_of(vector))
    assert made.data.hex() == vector["hex"]
    assert made.length == vector["length"]
    assert made.cardinality == len(vector["values"])


@given(
    files=st.lists(st.sets(st.integers(0, ROWS - 1) | st.integers(0, 40), min_size=1), min_size=1),
    forms=st.lists(st.booleans(), min_size=1),
)
@settings(max_examples=50, deadline=None)
def test_the_vectors_of_an_index_file_are_read_where_the_ranges_say(
    files: list[set[int]], forms: list[bool]
) -> None:
    vectors = {
        f"data-{place}": encoded(sorted(rows), is_64_bit=forms[place % len(forms)])
        for place, rows in enumerate(files)
    }
    data, ranges = index_file_of(vectors)
    file_io = MemoryFileIO()
    file_io.put_if_absent(PATH, data)
    assert data[0] == ranges[0].offset == 1
    assert [each.data_file_name for each in ranges] == list(vectors)
    for rows, each in zip(files, ranges, strict=True):
        found = read_deletion_vector(file_io, ref_of(each), data_file=DATA_FILE, row_count=ROWS)
        assert set(np.flatnonzero(found).tolist()) == rows
        assert each.cardinality == len(rows)
        carried = stored_vector(data, ref_of(each), data_file=each.data_file_name)
        assert carried == vectors[each.data_file_name]


def test_a_row_beyond_32_bits_takes_the_64_bit_form() -> None:
    assert encoded([2**31 - 1]).cardinality == 1
    assert encoded([2**31], is_64_bit=True).cardinality == 1
    with pytest.raises(UnsupportedError, match=r"data-a\.parquet: row 2147483648 .*bitmap64=true"):
        encoded([2**31])


@pytest.mark.parametrize("is_64_bit", [False, True])
def test_a_vector_is_not_carried_on_where_it_is_damaged(*, is_64_bit: bool) -> None:
    data, [_, stored] = index_file_of(
        {"a": encoded([1, 5]), DATA_FILE: encoded([2, 3, 9, 70_000], is_64_bit=is_64_bit)}
    )
    ref = ref_of(stored)
    for position in range(stored.offset, len(data)):
        flipped = bytearray(data)
        flipped[position] ^= 1 << (position % 8)
        with pytest.raises(CorruptTableError, match=DATA_FILE):
            stored_vector(bytes(flipped), ref, data_file=DATA_FILE)
        with pytest.raises(CorruptTableError, match=DATA_FILE):
            stored_vector(data[:position], ref, data_file=DATA_FILE)
    for wrong in (
        replace(ref, length=stored.length + 1),
        replace(ref, length=-1),
        replace(ref, offset=stored.offset - 1),
        replace(ref, offset=stored.offset - len(data)),
    ):
        with pytest.raises(CorruptTableError, match=DATA_FILE):
            stored_vector(data, wrong, data_file=DATA_FILE)
