"""Which columns of a Parquet file are worth a dictionary?

One pays where values repeat: the file gets smaller, and is written and read faster. Where they do
not, the writer fills a dictionary, gives up and has done the work twice. A sample tells them apart.
"""

from collections.abc import Iterator

import pyarrow as pa

from lakebed.format.arrow.compute import compute as pc

_SAMPLE_ROWS = 1 << 15
_LEAST_SAMPLE_ROWS = 1 << 10
_MOST_DISTINCT_SHARE = 0.5


def dictionary_columns(rows: pa.Table) -> list[str]:
    """The dotted paths of the columns to be given a dictionary, as the file's schema has them.

    Columns within nested ones are, as in other writers; so is text among few rows, which tell
    little of those that follow.

    Args:
        rows: The first ones of the file.
    """
    size = rows.num_rows
    sample = rows.take(pa.array(range(0, size, -(-size // _SAMPLE_ROWS)))) if size else rows
    return [path for field in rows.schema for path in _paths_with_dictionary(field, sample)]


def leaf_paths(field: "pa.Field[pa.DataType]", path: str) -> Iterator[str]:
    """The dotted paths of a file's columns, as its schema has them.

    Args:
        field: A column of the table, or a part of one.
        path: Its own path.
    """
    kind = field.type
    match kind:
        case pa.ListType():
            yield from leaf_paths(kind.value_field, f"{path}.list.element")
        case pa.MapType():
            yield from leaf_paths(kind.key_field, f"{path}.key_value.key")
            yield from leaf_paths(kind.item_field, f"{path}.key_value.value")
        case pa.StructType():
            for part in kind:
                yield from leaf_paths(part, f"{path}.{part.name}")
        case _:
            yield path


def _paths_with_dictionary(field: "pa.Field[pa.DataType]", sample: pa.Table) -> list[str]:
    if pa.types.is_nested(field.type):
        return list(leaf_paths(field, field.name))
    if sample.num_rows < _LEAST_SAMPLE_ROWS:
        pays = pa.types.is_string(field.type) or pa.types.is_binary(field.type)
    else:
        distinct = pc.count_distinct(sample.column(field.name)).as_py()
        pays = distinct <= _MOST_DISTINCT_SHARE * sample.num_rows
    return [field.name] if pays else []
