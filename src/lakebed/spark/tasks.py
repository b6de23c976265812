"""What did the tasks that write files hand back?"""

import pickle

from pyspark.sql import DataFrame

from lakebed.errors import LakebedError
from lakebed.spark.worker import RESULT_COLUMN, RunWork, WriteRows
from lakebed.spark.workers import map_rows
from lakebed.table.committing import delete_written
from lakebed.table.parts import TableParts
from lakebed.table.writing.commit_message import CommitMessage


def run_tasks(frame: DataFrame, run: WriteRows | RunWork, parts: TableParts) -> list[CommitMessage]:
    """Runs a task for each partition of a frame; tells what they wrote.

    Args:
        frame: What the tasks take.
        run: What they do.
        parts: The table that they write to.

    Raises:
        LakebedError: Why one of them wrote nothing; what the others wrote is deleted.
    """
    rows = map_rows(frame, run, f"{RESULT_COLUMN} BINARY").collect()
    # Written by our own tasks.
    results = [pickle.loads(row[0]) for row in rows]
    messages = [message for result in results if isinstance(result, list) for message in result]
    error = next((result for result in results if isinstance(result, LakebedError)), None)
    if error is not None:
        delete_written(parts, messages)
        raise error
    return messages
