"""Of a Parquet file on no local disk, what is not wanted is not fetched."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakebed.errors import CorruptTableError
from lakebed.format.parquet.read import read_parquet
from lakebed.storage.memory import MemoryFileIO

ROWS = 20_000
PATH = "memory:/t/data-1.parquet"
NAMES = [f"c{number}" for number in range(10)]
TABLE = pa.table({name: np.random.default_rng(7).integers(0, 1 << 60, ROWS) for name in NAMES})


class CountingFileIO(MemoryFileIO):
    """Counts reads of whole files."""

    def __init__(self) -> None:
        super().__init__()
        self.whole_reads = 0

    def read(self, path: str) -> bytes:
        self.whole_reads += 1
        return super().read(path)


@pytest.fixture
def content() -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(TABLE, sink, compression="none", use_dictionary=False, write_page_checksum=True)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize(("count", "whole_reads"), [(1, 0), (4, 0), (5, 1), (10, 1)])
@pytest.mark.parametrize("keeps", [False, True])
def test_a_file_is_fetched_whole_if_most_of_it_is_wanted(
    content: bytes, *, count: int, whole_reads: int, keeps: bool
) -> None:
    file_io = CountingFileIO()
    file_io.write(PATH, content)
    keep = np.arange(ROWS) % 3 == 0 if keeps else None
    wanted = TABLE.select(NAMES[:count])
    found = read_parquet(file_io, PATH, schema=wanted.schema, keep=keep, use_threads=True)
    assert found.equals(wanted if keep is None else wanted.filter(pa.array(keep)))
    assert file_io.whole_reads == whole_reads


@pytest.mark.parametrize("count", [1, 10])
def test_a_damaged_page_is_found_either_way(content: bytes, count: int) -> None:
    damaged = bytearray(content)
    damaged[ROWS] ^= 1
    file_io = CountingFileIO()
    file_io.write(PATH, bytes(damaged))
    schema = TABLE.select(NAMES[:count]).schema
    with pytest.raises(CorruptTableError, match=PATH):
        read_parquet(file_io, PATH, schema=schema, use_threads=False)
