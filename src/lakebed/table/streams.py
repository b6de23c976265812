"""A table as a stream, in this process: what is there, and then what changes, as Arrow batches."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Literal

import pyarrow as pa

from lakebed.errors import InvalidArgumentError, UnsupportedError
from lakebed.format.predicate.expressions import Expression
from lakebed.options.acceptance import check_stream_options, normalize
from lakebed.options.stream_options import StreamOptions
from lakebed.options.values import OptionValue
from lakebed.table.parts import TableParts
from lakebed.table.reading.scan import Scan
from lakebed.table.reading.scan_plan import ScanSource
from lakebed.table.streaming.batches import StreamBatches
from lakebed.table.streaming.kinds import scan_with_kinds
from lakebed.table.streaming.start import Beginning
from lakebed.table.streaming.steps import FINEST_SPLITS, Following
from lakebed.table.streaming.table_streams import TableStream, streams_of

_CONSUMER = "consumer-id"
_SNAPSHOT, _MODE = "scan.snapshot-id", "scan.mode"
_NEWEST = "latest"


class Streams(ABC):
    """The table whose parts are given, as a stream."""

    __slots__ = ()

    name: str

    _has_changes: ClassVar[bool] = True
    """Whether there is something to follow; what shows metadata or a part of the rows has not."""
    _tells_kinds: ClassVar[bool] = False
    """Whether the rows say their kinds without `_row_kind`."""

    @abstractmethod
    def _parts_read(self, scan_options: Mapping[str, str]) -> TableParts:
        """The parts of the table whose files are read."""

    @abstractmethod
    def _scan(
        self,
        parts: TableParts,
        source: ScanSource,
        *,
        columns: Sequence[str] | None,
        where: str | Expression | None,
        limit: int | None,
    ) -> Scan:
        """A scan of one source."""

    def stream(
        self,
        from_snapshot: int | None = None,
        consumer_id: str | None = None,
        until: int | Literal["latest"] | None = None,
        *,
        columns: Sequence[str] | None = None,
        where: str | Expression | None = None,
        options: Mapping[str, OptionValue] | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Reads the table, and then its changes as they are committed.

        Without anything said, the rows of the newest snapshot come first, all as `+I`. Changes of a
        table with a changelog producer are those of its changelog; without one they are the rows as
        they were written, of which a later one of a key replaces the earlier. Rows of one bucket
        come in the order of their commits.

        Args:
            from_snapshot: Begins with the changes of this snapshot, or of the oldest that is left.
            consumer_id: Goes on where the consumer of this name was, and keeps its position in the
                table when the next batch after the last of a snapshot is asked for; what it has not
                read does not expire.
            until: The last snapshot that is read, or `"latest"` for the newest of now; None waits
                for more, for ever.
            columns: Columns in the order wanted; all by default.
            where: A Spark SQL condition on the columns; rows for which it is true are read.
            options: Options of a stream or a scan: `scan.mode`, `scan.timestamp-millis`,
                `streaming-read-overwrite`, `scan.bounded.watermark`,
                `continuous.discovery-interval` (how long it waits between two looks, 1 s where
                nobody gave it) and others.

        Returns:
            Batches whose last column is `_row_kind`: `+I`, `-U`, `+U` or `-D`. Rows of
            `$audit_log` and `$binlog` say it in `rowkind` alone.

        Raises:
            InvalidArgumentError: An unknown column, a bad condition or option, two beginnings.
            NotFoundError: While reading: a snapshot expired before it was read, or the history was
                rewritten by a rollback.
            UnsupportedError: The table cannot be read as a stream.
        """
        given = normalize(options or {})
        _lay(given, _CONSUMER, consumer_id, name="consumer_id")
        if from_snapshot is not None:
            if _MODE in given:
                raise InvalidArgumentError(
                    f"from_snapshot and option {_MODE!r} both say where to begin; give one of them"
                )
            _lay(given, _SNAPSHOT, from_snapshot, name="from_snapshot")
        following = self.following(columns, where, options=given)
        limits = following.options.limits
        if limits and any(key in given for key in limits):
            raise InvalidArgumentError(
                f"option {limits[0]!r} is of micro-batches, and this stream gives what it has read "
                "batch by batch. Leave it out"
            )
        return iter(StreamBatches(following=following, until=_end(following, until)))

    def streams(self) -> list[TableStream]:
        """Who streams out of the table and into it: its consumers, and who numbers its commits.

        Raises:
            CorruptTableError: A snapshot or a consumer's file cannot be read.
        """
        return streams_of(self._parts_read({}))

    def following(
        self,
        columns: Sequence[str] | None = None,
        where: str | Expression | None = None,
        *,
        options: Mapping[str, OptionValue] | None = None,
        with_kinds: bool = True,
    ) -> Following:
        """The stream for the layers above, which keep its position themselves.

        Args:
            columns: As for `stream`.
            where: As for `stream`.
            options: As for `stream`.
            with_kinds: Whether `_row_kind` is the last column.
        """
        if not self._has_changes:
            raise UnsupportedError(
                f"{self.name} cannot be read as a stream; read the table, its $audit_log or its"
                " $binlog"
            )
        given = normalize(options or {})
        check_stream_options(given)
        parts = self._parts_read({**given, **FINEST_SPLITS})
        stream_options = StreamOptions.parse(
            parts.texts, has_primary_key=bool(parts.schema.primary_keys)
        )

        def scan(source: ScanSource) -> Scan:
            if with_kinds and not self._tells_kinds:
                return scan_with_kinds(parts, source, columns=columns, where=where)
            return self._scan(parts, source, columns=columns, where=where, limit=None)

        following = Following(
            parts=parts,
            options=stream_options,
            beginning=Beginning(
                parts=parts,
                given=given,
                consumer_id=None if stream_options.ignores_progress else stream_options.consumer_id,
            ),
            scan=scan,
        )
        following.open()
        return following


def _lay(given: dict[str, str], key: str, value: object, *, name: str) -> None:
    if value is None:
        return
    if key in given:
        raise InvalidArgumentError(f"{name} and option {key!r} say the same; give one of them")
    given[key] = str(value)


def _end(following: Following, until: int | str | None) -> int | None:
    if until is None:
        return None
    if until == _NEWEST:
        return following.parts.snapshots.latest_id() or 0
    if isinstance(until, int) and not isinstance(until, bool):
        return until
    raise InvalidArgumentError(f"until is the id of a snapshot or {_NEWEST!r}, not {until!r}")
