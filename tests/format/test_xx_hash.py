"""The hashes of many texts at once, against the library that hashes one."""

import numpy as np
import pyarrow as pa
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from lakebed.format.arrow.typing import ArrowArray
from lakebed.format.xx_hash import text_hashes


def one_by_one(texts: list[bytes]) -> list[int]:
    hashes = np.array([xxhash.xxh64_intdigest(text) for text in texts], dtype=np.uint64)
    found: list[int] = hashes.view(np.int64).tolist()
    return found


@given(st.lists(st.binary(max_size=100)), st.integers(0, 5))
def test_texts_have_the_hashes_of_the_library(texts: list[bytes], skipped: int) -> None:
    values: ArrowArray = pa.array(texts, pa.binary()).slice(min(skipped, len(texts)))
    assert text_hashes(values).tolist() == one_by_one(texts[skipped:])


def test_texts_of_every_length_and_number_have_the_hashes_of_the_library() -> None:
    noise = np.random.default_rng(5).bytes(5000)
    texts = [noise[:length] for length in (*range(300), 1023, 1024, 1025, 5000)] * 30
    values: ArrowArray = pa.array(texts, pa.binary())
    assert text_hashes(values).tolist() == one_by_one(texts)


def test_a_string_is_hashed_by_its_bytes() -> None:
    values: ArrowArray = pa.array(["", "zażółć"])
    assert text_hashes(values).tolist() == one_by_one([b"", "zażółć".encode()])
