"""Where do the key ranges of data files lie to each other?"""

import pyarrow as pa

from lakebed.format.binary_row.codec import decode_rows
from lakebed.format.schema import TableSchema
from lakebed.lsm.sort_keys import dense_ranks, sort_words


def key_ranks(entries: pa.Table, schema: TableSchema) -> tuple[list[int], list[int]]:
    """Numbers in the order of keys: of the smallest key of each file, and of its greatest.

    Args:
        entries: Entries of files (`format.manifest.ENTRY_COLUMNS`) of a table with a primary key.
        schema: Its schema.
    """
    types = [schema.field(name).type for name in schema.trimmed_primary_keys]
    rows = pa.chunked_array(
        [*entries.column("min_key").chunks, *entries.column("max_key").chunks], pa.binary()
    )
    columns = decode_rows(rows.combine_chunks(), types, source="min_key, max_key")
    ranks = dense_ranks(sort_words([pa.chunked_array([column]) for column in columns]))
    return ranks[: entries.num_rows].tolist(), ranks[entries.num_rows :].tolist()
