"""Which partition and bucket rows go to, against a loop over the rows."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.errors import CommitConflictError
from lakebed.format.binary_row.codec import EMPTY_ROW, encode_row
from lakebed.format.bucket import assign_buckets
from lakebed.format.schema import TableSchema
from lakebed.format.schema_builder import build_schema
from lakebed.format.schema_definition import schema
from lakebed.lsm.merge import DELETE, INSERT
from lakebed.options.table_options import TableOptions
from lakebed.table.writing.routing import FixedBuckets, OneBucket, PartitionedRows

Row = tuple[int, str | None, int | None]
ROWS = st.lists(
    st.tuples(
        st.integers(-5, 5),
        st.sampled_from(["x", "", "a longer name"]) | st.none(),
        st.integers(0, 2) | st.none(),
    ),
    max_size=30,
)


def table_schema(*partition_keys: str, bucket: int = -1) -> TableSchema:
    options = {"bucket": str(bucket)} | ({"bucket-key": "id"} if bucket > 0 else {})
    return build_schema(
        schema([("id", "BIGINT"), ("p", "STRING"), ("q", "INT"), ("place", "BIGINT")]).fields,
        options=options,
        partition_keys=partition_keys,
        time_millis=0,
    )


def arrow(rows: list[Row]) -> pa.Table:
    return pa.table(
        {
            "id": pa.array([row[0] for row in rows], pa.int64()),
            "p": pa.array([row[1] for row in rows], pa.string()),
            "q": pa.array([row[2] for row in rows], pa.int32()),
            "place": pa.array(range(len(rows)), pa.int64()),
        }
    )


@given(rows=ROWS, keys=st.sampled_from([(), ("p",), ("q", "p"), ("p", "q")]))
def test_rows_are_of_the_partition_of_their_values(rows: list[Row], keys: tuple[str, ...]) -> None:
    described = table_schema(*keys)
    places = PartitionedRows.of(arrow(rows), described)
    types = [described.field(name).type for name in keys]
    told = [tuple(row["pq".index(name) + 1] for name in keys) for row in rows]
    assert [places.values[code] for code in places.codes] == told
    serialized = [encode_row(values, types) for values in told]
    assert [places.partitions[code] for code in places.codes] == serialized
    assert len(set(places.partitions)) == len(places.partitions)
    positions = {place: code for code, mine in places.each() for place in mine.tolist()}
    assert [positions[place] for place in range(len(rows))] == places.codes.tolist()


def test_partition_columns_of_very_many_values_stay_apart() -> None:
    # 2**12 values in each of 6 columns: more combinations than a number of 64 bits can count.
    count, names = 4096, [f"c{index}" for index in range(6)]
    described = build_schema(
        schema([(name, "INT") for name in (*names, "v")]).fields,
        options={},
        partition_keys=names,
        time_millis=0,
    )
    told = [(number,) * 6 for number in range(count)] + [(16, 0, 0, 0, 0, 0)]
    columns = [pa.array(column, pa.int32()) for column in zip(*told, strict=True)]
    rows = pa.table([*columns, columns[0]], names=[*names, "v"])
    places = PartitionedRows.of(rows, described)
    assert [places.values[code] for code in places.codes] == told


@given(rows=ROWS, bucket=st.sampled_from([-1, 1, 3]))
def test_rows_of_a_bucket_come_together_in_their_order_with_their_kinds(
    rows: list[Row], bucket: int
) -> None:
    described = table_schema("p", bucket=bucket)
    options = TableOptions.parse(described.options, has_primary_key=False)
    given_rows = arrow(rows)
    kinds = given_rows["place"].to_numpy() % 2 * DELETE
    router = (
        FixedBuckets(table_schema=described, options=options, counts={}, base=0)
        if bucket > 0
        else OneBucket(table_schema=described)
    )
    seen: dict[int, tuple[object, ...]] = {}
    for routed in router.route(given_rows, kinds.astype("int8")):
        found = [int(place.as_py()) for place in routed.rows["place"]]
        assert found == sorted(found)
        assert routed.kinds is not None
        assert routed.kinds.tolist() == [DELETE if place % 2 else INSERT for place in found]
        assert routed.total_buckets == bucket
        seen |= dict.fromkeys(found, (*routed.values, routed.bucket))
    ids = [given_rows["id"]]
    types = [described.field("id").type]
    wanted = assign_buckets(ids, types, total_buckets=bucket) if bucket > 0 else [0] * len(rows)
    assert seen == {
        place: (row[1], number)
        for place, (row, number) in enumerate(zip(rows, wanted, strict=True))
    }
    assert list(router.held_back()) == []
    assert router.finish() == []


def test_rows_are_not_added_to_a_partition_of_another_number_of_buckets() -> None:
    described = table_schema(bucket=4)
    options = TableOptions.parse(described.options, has_primary_key=False)
    router = FixedBuckets(table_schema=described, options=options, counts={EMPTY_ROW: 2}, base=7)
    words = "used 4 buckets, but the partition has 2 in snapshot 7.*rescale the partition first"
    with pytest.raises(CommitConflictError, match=words):
        list(router.route(arrow([(1, "x", 1)]), None))
