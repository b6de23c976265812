import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakebed.lsm.functions.identities import identities, row_identities
from support.columns import array_of, sliced_array_of

small = st.none() | st.integers(0, 2)
entries = st.dictionaries(st.sampled_from("ab"), small).flatmap(
    lambda map_: st.permutations(list(map_.items()))
)
TYPES: list[tuple[pa.DataType, st.SearchStrategy[object]]] = [
    (pa.bool_(), st.none() | st.booleans()),
    (pa.string(), st.none() | st.sampled_from(["", "a", "a\0"])),
    (pa.list_(pa.int32()), st.none() | st.lists(small, max_size=3)),
    (pa.list_(pa.int32(), 2), st.none() | st.lists(small, min_size=2, max_size=2)),
    (pa.map_(pa.string(), pa.int32()), st.none() | entries),
    (
        pa.struct([pa.field("a", pa.int32()), pa.field("b", pa.list_(pa.string()))]),
        st.none()
        | st.fixed_dictionaries(
            {"a": small, "b": st.none() | st.lists(st.sampled_from(["", "x"]), max_size=2)}
        ),
    ),
]


def canonical(value: object) -> str:
    if isinstance(value, dict):
        return repr([(name, value[name]) for name in sorted(value)])
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        return repr(sorted(value))
    return repr(value)


@settings(max_examples=300)
@given(kind=st.sampled_from(TYPES), data=st.data())
def test_values_have_one_identity_where_they_are_equal(
    kind: tuple[pa.DataType, st.SearchStrategy[object]], data: st.DataObject
) -> None:
    arrow, value = kind
    values = data.draw(st.lists(value, max_size=8))
    ids = identities(sliced_array_of(values, arrow))
    texts = [canonical(value) for value in values]
    assert [[a == b for b in ids] for a in ids] == [[a == b for b in texts] for a in texts]


@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()])
def test_every_nan_is_one_value_and_zeros_are_two(kind: pa.DataType) -> None:
    width = kind.bit_width // 8
    odd_nan = np.array([-1], f"i{width}").view(f"f{width}")[0]
    ids = identities(array_of([0.0, -0.0, float("nan"), odd_nan, None], kind)).tolist()
    assert ids[2] == ids[3]
    assert len(set(ids)) == 4


def test_rows_are_equal_where_all_columns_are() -> None:
    columns = [array_of([1, 1, 1, None], pa.int32()), array_of(["a", "b", "a", "a"], pa.string())]
    first, second, third, fourth = row_identities(columns, 4).tolist()
    assert first == third
    assert len({first, second, fourth}) == 3
