import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakebed.errors import CorruptTableError, NotFoundError, UnsupportedError
from lakebed.format.data_file import file_shape, read_file, stream_file
from lakebed.format.packed_changelog import PackedChangelog, packed_changelog_of
from lakebed.storage.memory import MemoryFileIO

_UUID = "3bd8bd29-95b5-4e26-a2a8-4eb4e8a4a4b1"
_SCHEMA = pa.schema({"a": pa.int64()})


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (f"b/bucket-1/compacted-changelog-{_UUID}$1-90.cc-parquet", ("bucket-1", 0, 90)),
        (f"b/bucket-3/compacted-changelog-{_UUID}$1-90-90-70.cc-parquet", ("bucket-1", 90, 70)),
    ],
)
def test_a_name_says_where_a_part_lies(name: str, expected: tuple[str, int, int]) -> None:
    bucket, offset, length = expected
    assert packed_changelog_of(name) == PackedChangelog(
        path=f"b/{bucket}/compacted-changelog-{_UUID}$1-90.cc-parquet",
        offset=offset,
        length=length,
        file_format="parquet",
    )


@pytest.mark.parametrize(
    "name",
    [
        f"b/bucket-1/changelog-{_UUID}-0.parquet",
        f"b/bucket-1/compacted-changelog-{_UUID}-0.parquet",
        f"b/bucket-1/compacted-changelog-{_UUID}$1-90-90.cc-parquet",
    ],
)
def test_another_name_is_a_file_of_its_own(name: str) -> None:
    assert packed_changelog_of(name) is None


def encoded(values: list[int]) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"a": values}, schema=_SCHEMA), sink)
    return sink.getvalue().to_pybytes()


def packed(*parts: bytes) -> tuple[MemoryFileIO, list[str]]:
    """A file of some parts, and the names of all."""
    store, stem = MemoryFileIO(), f"compacted-changelog-{_UUID}$0-{len(parts[0])}"
    names, offset = [f"memory:/t/bucket-0/{stem}.cc-parquet"], len(parts[0])
    store.write(names[0], b"".join(parts))
    for bucket, part in enumerate(parts[1:], 1):
        name = f"{stem}-{offset}-{len(part)}.cc-parquet"
        names.append(f"memory:/t/bucket-{bucket}/{name}")
        offset += len(part)
    return store, names


def test_each_part_is_read_as_a_file() -> None:
    store, names = packed(encoded([1, 2]), encoded([3]), encoded([4, 5, 6]))
    expected = ([1, 2], [3], [4, 5, 6])
    for name, values in zip(names, expected, strict=True):
        read = read_file(store, name, schema=_SCHEMA, row_count=len(values))
        assert read.column("a").to_pylist() == values
        streamed = stream_file(store, name, schema=_SCHEMA, batch_rows=2)
        assert pa.concat_tables(streamed).column("a").to_pylist() == values
        assert file_shape(store, name, columns=["a"]).row_count == len(values)


def test_a_file_that_is_too_short_missing_or_of_another_format_is_an_error_that_names_it() -> None:
    store, (first, second) = packed(encoded([1]), encoded([2]))
    store.write(first, store.read(first)[:-1])
    with pytest.raises(
        CorruptTableError, match=r"\$0-.*ends before byte .* up to which .*bucket-1"
    ):
        read_file(store, second, schema=_SCHEMA)
    store.delete(first)
    with pytest.raises(NotFoundError):
        read_file(store, second, schema=_SCHEMA)
    store.write(first.replace("cc-parquet", "cc-lance"), encoded([1]))
    with pytest.raises(UnsupportedError, match="lance"):
        read_file(store, first.replace("cc-parquet", "cc-lance"), schema=_SCHEMA)
