"""How are rows written where no catalog is attached?

Tasks write what they get, and Spark commits in a process of its own. Nothing brings the rows of a
bucket together, so tables with buckets are refused. A micro-batch of a stream is committed once:
its query, whose id the checkpoint keeps, is the commit user, its number the identifier.
"""

import json
import pickle
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)

from lakebed.errors import InvalidArgumentError, StorageError, UnsupportedError
from lakebed.spark.writer import commit_written
from lakebed.storage.location import file_io_for, parse_location
from lakebed.table.committing import committing_once, delete_written
from lakebed.table.routers import rows_writer
from lakebed.table.table import Table
from lakebed.table.writing.commit_message import CommitMessage

USER_PREFIX = "lakebed-"
NO_CHECKPOINT = (
    "a stream into a table needs a checkpoint, by which each micro-batch is committed once: give"
    ' option("checkpointLocation", "...")'
)


@dataclass
class Written(WriterCommitMessage):
    """What a task wrote, pickled."""

    messages: bytes


class PaimonWriter(DataSourceArrowWriter):
    """Writes a table whose rows may be written by any task."""

    def __init__(self, table: Table, *, is_overwrite: bool) -> None:
        """Looks at the table as it is now.

        Raises:
            UnsupportedError: The table has buckets.
        """
        self._parts = table.parts()
        if self._parts.options.bucket > 0 or self._parts.schema.primary_keys:
            raise UnsupportedError(
                f"{table.name} has buckets, whose rows must come together before they are written:"
                " call lakebed.spark.attach(spark, ...) first, and write again"
            )
        base = self._parts.write_base()
        self._base = base.for_overwrite() if is_overwrite else base
        self._is_overwrite = is_overwrite

    def write(  # type: ignore[override]  # PySpark's own Arrow writer narrows it so
        self, iterator: Iterator[pa.RecordBatch]
    ) -> WriterCommitMessage:
        """Writes the rows of one task."""
        with rows_writer(self._parts, self._base) as sink:
            for batch in iterator:
                sink.add(batch)
            return Written(pickle.dumps(sink.finish()))

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Commits what all tasks wrote."""
        self._commit(messages)

    def commit_once(
        self, messages: list[WriterCommitMessage | None], *, user: str, identifier: int
    ) -> None:
        """Commits what all tasks wrote, or deletes it where that commit was made before."""
        with committing_once(self._parts, user, identifier) as is_due:
            if is_due:
                self._commit(messages, user=user, identifier=identifier)
            else:
                delete_written(self._parts, _messages(messages))

    def _commit(
        self,
        messages: list[WriterCommitMessage | None],
        *,
        user: str | None = None,
        identifier: int | None = None,
    ) -> None:
        commit_written(
            self._parts,
            _messages(messages),
            base=self._base,
            is_overwrite=self._is_overwrite,
            user=user,
            identifier=identifier,
        )

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Deletes what the tasks wrote, when one of them failed.

        Spark aborts also when `commit` raised. All messages are there then, and the commit has
        deleted the files itself where it was certain that no snapshot names them.
        """
        if None in messages:
            delete_written(self._parts, _messages(messages))


class PaimonStreamWriter(DataSourceStreamArrowWriter):
    """Writes the micro-batches of one query."""

    def __init__(
        self, writer: PaimonWriter, *, checkpoint: str | None, store_options: Mapping[str, str]
    ) -> None:
        """Looks at nothing yet.

        Args:
            writer: Writes rows to the table.
            checkpoint: The query's `checkpointLocation`.
            store_options: Say how the checkpoint's store is reached.

        Raises:
            InvalidArgumentError: There is no checkpoint.
        """
        if checkpoint is None:
            raise InvalidArgumentError(NO_CHECKPOINT)
        self._writer = writer
        self._checkpoint = checkpoint
        self._store_options = dict(store_options)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:  # type: ignore[override]  # as above
        """Writes the rows of one task."""
        return self._writer.write(iterator)

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803 - Spark's name
        """Commits a micro-batch, unless it was before."""
        user = USER_PREFIX + _query_id(self._checkpoint, self._store_options)
        self._writer.commit_once(messages, user=user, identifier=batchId)

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: ARG002, N803 - as above
        """Deletes what the tasks wrote, when one of them failed."""
        self._writer.abort(messages)


def _query_id(checkpoint: str, store_options: Mapping[str, str]) -> str:
    location = parse_location(checkpoint).text
    path = f"{location.rstrip('/')}/metadata"
    return query_id_in(file_io_for(location, store_options).read(path).decode(), path)


def query_id_in(text: str, path: str) -> str:
    """The id of a query, which it keeps when its checkpoint moves.

    Args:
        text: What the file `metadata` of its checkpoint holds.
        path: The file, for the message.

    Raises:
        StorageError: It does not say it.
    """
    try:
        return str(json.loads(text)["id"])
    except (ValueError, KeyError, TypeError) as error:
        raise StorageError(path, "does not say the id of the query; is it a checkpoint?") from error


def _messages(messages: list[WriterCommitMessage | None]) -> list[CommitMessage]:
    found = [pickle.loads(each.messages) for each in messages if isinstance(each, Written)]
    return [cast("CommitMessage", message) for group in found for message in group]
