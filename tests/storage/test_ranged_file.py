import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakebed.storage.ranged_file import TAIL_BYTES, RangedFile

CONTENT = np.random.default_rng(7).bytes(1 << 20)


class Requests:
    """Ranges that were fetched from some content."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.ranges: list[tuple[int, int]] = []

    def __call__(self, offset: int, length: int) -> bytes:
        assert 0 <= offset < offset + length <= len(self.content)
        self.ranges.append((offset, length))
        return self.content[offset : offset + length]


def opened(requests: Requests) -> RangedFile:
    return RangedFile(len(requests.content), requests.content[-TAIL_BYTES:], requests)


def test_random_reads_and_seeks_find_what_a_file_in_memory_does() -> None:
    chance = np.random.default_rng(1)
    file, expected = opened(Requests(CONTENT)), io.BytesIO(CONTENT)
    for _ in range(2000):
        whence = int(chance.integers(3))
        offset = int(chance.integers(len(CONTENT) + 100))
        if whence == io.SEEK_END:
            offset = -offset if offset <= len(CONTENT) else 0
        elif whence == io.SEEK_CUR:
            offset = offset % 5000
        assert file.seek(offset, whence) == expected.seek(offset, whence)
        size = int(chance.choice([0, 1, 7, 4096, 70_000, 300_000]))
        assert file.read(size) == expected.read(size)
        assert file.tell() == expected.tell()
    assert file.seek(0) == 0
    assert file.read() == CONTENT


@pytest.mark.parametrize("size", [0, 1, TAIL_BYTES, TAIL_BYTES + 1])
def test_a_short_file_takes_no_further_request(size: int) -> None:
    requests = Requests(CONTENT[:size])
    file = opened(requests)
    assert file.read() == CONTENT[:size]
    assert file.read(10) == b""
    assert len(requests.ranges) == (size > TAIL_BYTES)


def test_a_file_read_from_front_to_back_takes_few_requests() -> None:
    requests = Requests(CONTENT)
    file = opened(requests)
    parts = []
    while part := file.read(1000):
        parts.append(part)
    assert b"".join(parts) == CONTENT
    assert len(requests.ranges) < 8
    assert sum(length for _, length in requests.ranges) <= len(CONTENT)


def test_two_columns_of_ten_take_a_request_each_and_a_fifth_of_the_bytes() -> None:
    columns = {f"c{n}": np.random.default_rng(n).integers(0, 1 << 60, 50_000) for n in range(10)}
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink, compression="none", use_dictionary=False)
    requests = Requests(sink.getvalue().to_pybytes())
    file = pq.ParquetFile(pa.PythonFile(opened(requests), mode="r"), pre_buffer=False)
    found = file.read(columns=["c3", "c7"])
    assert found["c7"].to_numpy().tolist() == columns["c7"].tolist()
    assert len(requests.ranges) == 2
    assert sum(length for _, length in requests.ranges) < len(requests.content) / 4
