"""Where keys are, against a dict; with keys of one hash, which chance seldom gives."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from lakebed.format.arrow.typing import ArrowArray
from lakebed.format.binary_row.codec import encode_rows
from lakebed.format.bucket import hash_rows
from lakebed.format.types import MAX_LENGTH, AtomicType, TypeRoot
from lakebed.table.writing.key_locations import NOWHERE, KeyLocations

STRING = AtomicType(root=TypeRoot.VARCHAR, length=MAX_LENGTH)
BIGINT = AtomicType(root=TypeRoot.BIGINT)
KEYS = st.text(st.sampled_from("ab"), max_size=20)
PLACES = st.tuples(st.integers(0, 3), st.integers(0, 5))


def text_keys(keys: list[str]) -> ArrowArray:
    return encode_rows([pa.array(keys, pa.string())], [STRING], with_arity=False)


def number_keys(keys: list[int]) -> ArrowArray:
    return encode_rows([pa.array(keys, pa.int64())], [BIGINT], with_arity=False)


def add(locations: KeyLocations, keys: ArrowArray, places: list[tuple[int, int]]) -> None:
    partitions = np.array([place[0] for place in places], np.int64)
    locations.add(keys, partitions, np.array([place[1] for place in places], np.int32))


@given(st.lists(st.dictionaries(KEYS, PLACES, max_size=12), max_size=6))
def test_keys_are_found_where_they_were_put_last(
    batches: list[dict[str, tuple[int, int]]],
) -> None:
    locations, model = KeyLocations(), dict[str, tuple[int, int]]()
    for batch in batches:
        numbers = locations.find(text_keys(list(batch)))
        assert [number != NOWHERE for number in numbers] == [key in model for key in batch]
        known = [(n, batch[key]) for n, key in zip(numbers, batch, strict=True) if key in model]
        partitions = np.array([place[0] for _, place in known], np.int64)
        buckets = np.array([place[1] for _, place in known], np.int32)
        locations.move(np.array([n for n, _ in known], np.int64), partitions, buckets)
        new = [key for key in batch if key not in model]
        add(locations, text_keys(new), [batch[key] for key in new])
        model |= batch
        found, buckets = locations.places(locations.find(text_keys([*model, "c"])))
        told = list(zip(found.tolist(), buckets.tolist(), strict=True))
        assert told == [*model.values(), (NOWHERE, NOWHERE)]
    counted = {(p, b): n for p, b, n in zip(*(c.tolist() for c in locations.counts()), strict=True)}
    assert counted == {place: list(model.values()).count(place) for place in model.values()}


def test_keys_of_one_hash_are_told_apart() -> None:
    numbers = np.unique(np.random.default_rng(3).integers(0, 2**62, 300_000))
    hashes = hash_rows(number_keys(numbers.tolist()))
    order = np.argsort(hashes, kind="stable")
    alike = np.flatnonzero(np.diff(hashes[order]) == 0)
    alike = alike[~np.isin(alike - 1, alike)]
    firsts, seconds = numbers[order[alike]].tolist(), numbers[order[alike + 1]].tolist()
    assert len(alike) > 5
    locations = KeyLocations()
    add(locations, number_keys(firsts), [(0, 1)] * len(firsts))
    assert (locations.find(number_keys(seconds)) == NOWHERE).all()
    add(locations, number_keys(seconds), [(2, 3)] * len(seconds))
    for keys, place in ((firsts, (0, 1)), (seconds, (2, 3))):
        partitions, buckets = locations.places(locations.find(number_keys(keys)))
        assert set(zip(partitions.tolist(), buckets.tolist(), strict=True)) == {place}
