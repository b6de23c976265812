"""Which rows of a frame are merged in their tasks before they are shuffled?

`local-merge-buffer-size` asks for it: of a key that comes often, few rows are moved. A task hands
rows over to Python for it and takes them back, so it pays where many rows have few keys.
"""

import pickle

from pyspark.sql import DataFrame

from lakebed.spark.expected_rows import ExpectedRows
from lakebed.spark.worker import MergeRows
from lakebed.spark.workers import map_rows
from lakebed.table.parts import TableParts
from lakebed.table.writing.local_merge import LocalMerge


def locally_merged(frame: DataFrame, parts: TableParts) -> DataFrame:
    """The rows, of each key as few as its tasks can make of them; else the frame itself.

    Args:
        frame: Aligned rows that are about to be shuffled.
        parts: The table.

    Raises:
        InvalidTableError: The options of merging contradict each other.
        UnsupportedError: A function of merging that Lakebed lacks.
    """
    merge = LocalMerge.of(parts.schema, parts.options)
    if merge is None or ExpectedRows.of(frame).is_small:
        return frame
    return map_rows(frame, MergeRows(pickle.dumps(merge)), frame.schema)
