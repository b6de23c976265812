"""Hash indexes against numbers and against what the real engine wrote."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.errors import CorruptTableError
from lakebed.format.binary_row.codec import encode_rows
from lakebed.format.bucket import hash_rows
from lakebed.format.hash_index import HASH_INDEX, decode_hashes, encode_hashes
from lakebed.format.index_manifest import index_entries_from_columns
from lakebed.format.manifest_file import read_index_manifest
from support.golden_files import FILE_IO, GoldenFiles

HASHES = st.lists(st.integers(-(2**31), 2**31 - 1), max_size=20)


@given(HASHES)
def test_hashes_survive_the_file_as_big_endian_integers(hashes: list[int]) -> None:
    data = encode_hashes(np.array(hashes, np.int32))
    assert data == b"".join(number.to_bytes(4, "big", signed=True) for number in hashes)
    assert decode_hashes(data, "x").tolist() == hashes


def test_a_file_that_ends_within_a_hash_is_corrupt() -> None:
    with pytest.raises(CorruptTableError, match=r"index-0: .*4 bytes a key, this one 7"):
        decode_hashes(bytes(7), "index-0")


def test_a_golden_index_holds_the_hash_of_every_key_of_its_bucket() -> None:
    golden = GoldenFiles("pk_dynamic_bucket")
    field = golden.schema.field("id")
    manifest = golden.paths.manifest(str(golden.snapshot.index_manifest))
    listed = index_entries_from_columns(read_index_manifest(FILE_IO, manifest))
    entries = [each for each in listed if each.index_type == HASH_INDEX]
    assert len(entries) == 6
    for entry in entries:
        path = golden.paths.index(entry.file_name)
        stored = decode_hashes(FILE_IO.read(path), path)
        assert len(stored) == entry.row_count
        files = [
            golden.rows_of(row["file_name"])
            for row in golden.entries.to_pylist()
            if (row["partition"], row["bucket"]) == (entry.partition, entry.bucket)
        ]
        ids = pa.concat_tables(files).column("id").unique()
        hashes = hash_rows(encode_rows([ids], [field.type], with_arity=False))
        assert sorted(stored.tolist()) == sorted(hashes.tolist())
