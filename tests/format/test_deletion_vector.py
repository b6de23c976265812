"""Deletion vectors of the real writer: of golden tables, and of `file_index_vectors.jsonl`."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lakebed.errors import CorruptTableError
from lakebed.format.deletion_vector import DeletionVectorRef, read_deletion_vector
from lakebed.storage.memory import MemoryFileIO
from support.real_vectors import VECTORS, case_of

PATH = "/t/index/index-a-0"
DATA_FILE = "data-a.parquet"
ROWS = 131_073
# Before and behind the vector stand others.
BEFORE = b"\1" + bytes(20)


def ref_of(vector: dict[str, Any]) -> DeletionVectorRef:
    return DeletionVectorRef(
        path=PATH,
        offset=len(BEFORE),
        length=vector["length"],
        cardinality=len(vector["values"]),
    )


def store_of(data: bytes) -> MemoryFileIO:
    file_io = MemoryFileIO()
    file_io.put_if_absent(PATH, BEFORE + data)
    return file_io


def deleted(data: bytes, ref: DeletionVectorRef, *, row_count: int = ROWS) -> list[int]:
    found = read_deletion_vector(store_of(data), ref, data_file=DATA_FILE, row_count=row_count)
    assert len(found) == row_count
    return np.flatnonzero(found).tolist()


IN_RANGE = [vector for vector in VECTORS if "beyond" not in vector["case"]]
BEYOND = next(vector for vector in VECTORS if "beyond" in vector["case"])


@pytest.mark.parametrize("after", [b"", b"next vector"], ids=["last", "not last"])
@pytest.mark.parametrize("vector", IN_RANGE, ids=case_of)
def test_a_vector_marks_the_rows_that_the_real_writer_deleted(
    vector: dict[str, Any], after: bytes
) -> None:
    data = bytes.fromhex(vector["hex"]) + after
    assert deleted(data, ref_of(vector)) == vector["values"]
    assert deleted(data, replace(ref_of(vector), cardinality=None)) == vector["values"]


def test_a_row_beyond_the_file_is_corrupt() -> None:
    data = bytes.fromhex(BEYOND["hex"])
    with pytest.raises(CorruptTableError, match=r"data-a\.parquet: row 4294967302 is marked"):
        deleted(data, ref_of(BEYOND))
    last = IN_RANGE[0]["values"][-1]
    whole = bytes.fromhex(IN_RANGE[0]["hex"])
    assert deleted(whole, ref_of(IN_RANGE[0]), row_count=last + 1) == IN_RANGE[0]["values"]
    with pytest.raises(CorruptTableError, match=f"row {last} is marked, of {last} rows"):
        deleted(whole, ref_of(IN_RANGE[0]), row_count=last)


@pytest.mark.parametrize("vector", IN_RANGE, ids=case_of)
def test_every_flipped_bit_and_every_cut_is_found(vector: dict[str, Any]) -> None:
    data, ref = bytes.fromhex(vector["hex"]), ref_of(vector)
    for position in range(len(data)):
        flipped = bytearray(data)
        flipped[position] ^= 1 << (position % 8)
        with pytest.raises(CorruptTableError, match=DATA_FILE) as caught:
            deleted(bytes(flipped), ref)
        assert caught.value.path == PATH
        with pytest.raises(CorruptTableError, match=DATA_FILE):
            deleted(data[:position], ref)


@pytest.mark.parametrize("vector", IN_RANGE, ids=case_of)
def test_what_the_manifest_says_of_a_vector_is_checked(vector: dict[str, Any]) -> None:
    data, ref = bytes.fromhex(vector["hex"]), ref_of(vector)
    with pytest.raises(CorruptTableError, match="bytes were expected"):
        deleted(data, replace(ref, length=ref.length + 1))
    with pytest.raises(CorruptTableError, match="gives it -1 bytes"):
        deleted(data, replace(ref, length=-1))
    with pytest.raises(CorruptTableError, match="is cut off"):
        deleted(data, replace(ref, offset=10_000))
    with pytest.raises(CorruptTableError, match="index manifest says 99"):
        deleted(data, replace(ref, cardinality=99))
    with pytest.raises(CorruptTableError, match="magic number is 0x"):
        deleted(data, replace(ref, offset=ref.offset - 1))
