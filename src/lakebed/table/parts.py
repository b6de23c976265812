"""The parts of one table, put together for one use of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lakebed.errors import InvalidArgumentError
from lakebed.format.paths import FileNames, TablePaths
from lakebed.format.predicate.expressions import Expression
from lakebed.format.predicate.parser import parse_predicate
from lakebed.format.schema import TableSchema
from lakebed.format.snapshot import Snapshot
from lakebed.options.acceptance import check_openable
from lakebed.options.table_options import TableOptions
from lakebed.options.values import parse_boolean
from lakebed.storage.file_io import FileIO
from lakebed.table.metadata.branches import Branches
from lakebed.table.metadata.changelogs import Changelogs
from lakebed.table.metadata.entries import bucket_counts, max_sequence_numbers
from lakebed.table.metadata.index_paths import INDEX_IN_BUCKET, IndexPaths
from lakebed.table.metadata.manifest_merge import MergePolicy
from lakebed.table.metadata.manifests import Manifests
from lakebed.table.metadata.partitions import EveryPartition
from lakebed.table.metadata.schemas import Schemas
from lakebed.table.metadata.snapshots import Snapshots
from lakebed.table.metadata.tags import Tags
from lakebed.table.planning.plan import Planner
from lakebed.table.planning.split_files import SplitFiles
from lakebed.table.reading.history import History
from lakebed.table.reading.read import SplitReader
from lakebed.table.reading.scan import Scan
from lakebed.table.reading.scan_plan import ScanSource
from lakebed.table.session import Session
from lakebed.table.writing.bucket_writer import BucketWrites
from lakebed.table.writing.commit import Committer, RetryPolicy
from lakebed.table.writing.row_ids import RowIds
from lakebed.table.writing.strict_mode import StrictMode

_DATA_DIRECTORY = "data-file.path-directory"


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteBase:
    """What writers must know of the table they write to.

    Attributes:
        snapshot: The newest snapshot when writing began; None for an empty table.
        counts: Bucket count of each partition there.
        writes: Opens bucket writers.
        is_overwrite: Whether the rows replace all that their partitions hold.
        tasks: How many tasks write at once, each all rows of the keys of its share (`bucket_room`).
    """

    snapshot: Snapshot | None
    counts: dict[bytes, int]
    writes: BucketWrites
    is_overwrite: bool = False
    tasks: int = 1

    def for_overwrite(self) -> "WriteBase":
        """The same for rows that replace all that their partitions hold, bucket counts too."""
        return replace(self, counts={}, is_overwrite=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableParts:
    """One table with its options parsed; picklable.

    Attributes:
        paths: Names on disk.
        schema: The schema that is read and written.
        options: Its options, with those of a scan laid over them.
        texts: The same as text.
        file_io: The store.
        session: Options and effects of this process.
    """

    paths: TablePaths
    schema: TableSchema
    options: TableOptions
    texts: Mapping[str, str]
    file_io: FileIO
    session: Session

    @classmethod
    def of(
        cls,
        schema: TableSchema,
        *,
        paths: TablePaths,
        file_io: FileIO,
        session: Session,
        scan_options: Mapping[str, str],
    ) -> "TableParts":
        """Parses the options of the table, those of a scan going before."""
        return cls(
            paths=replace(paths, data_directory=schema.options.get(_DATA_DIRECTORY)),
            schema=schema,
            options=TableOptions.parse(
                {**schema.options, **scan_options}, has_primary_key=bool(schema.primary_keys)
            ),
            texts={**schema.options, **scan_options},
            file_io=file_io,
            session=session,
        )

    def as_of(self, snapshot: Snapshot) -> "TableParts":
        """The same table with the columns that it had then, and the options that it has now."""
        then = self.schemas.load(snapshot.schema_id)
        return replace(self, schema=replace(then, options=self.schema.options))

    def of_branch(self, name: str) -> "TableParts | None":
        """The same table seen from a branch, with the options of that; None where there is none."""
        schema = Branches(self.file_io, self.paths).find_schema(name)
        if schema is None:
            return None
        paths = self.paths.of_branch(name)
        return TableParts.of(
            schema, paths=paths, file_io=self.file_io, session=self.session, scan_options={}
        )

    @property
    def schemas(self) -> Schemas:
        """The table's schemas."""
        return Schemas(self.file_io, self.paths)

    @property
    def snapshots(self) -> Snapshots:
        """The table's snapshots."""
        return Snapshots(self.file_io, self.paths)

    @property
    def manifests(self) -> Manifests:
        """The table's manifests."""
        options = self.options
        return Manifests(
            file_io=self.file_io,
            paths=self.paths,
            partition_fields=self.schema.partition_type.fields,
            compression=options.manifest_compression,
            zstd_level=options.file_compression_zstd_level,
            merge_policy=MergePolicy(
                target_size_bytes=options.manifest_target_file_size,
                count_min=options.manifest_merge_min_count,
                full_size_bytes=options.manifest_full_compaction_threshold_size,
            ),
            threads=self.session.read_threads,
        )

    @property
    def split_files(self) -> SplitFiles:
        """From entries to files with paths."""
        return SplitFiles(
            table_schema=self.schema,
            paths=self.paths,
            default_name=self.options.partition_default_name,
            legacy_name=self.options.partition_legacy_name,
        )

    @property
    def index_paths(self) -> IndexPaths:
        """Where index files lie."""
        in_buckets = parse_boolean(self.texts.get(INDEX_IN_BUCKET, "false"), INDEX_IN_BUCKET)
        return IndexPaths(self.paths, self.split_files.bucket_directory if in_buckets else None)

    @property
    def committer(self) -> Committer:
        """Commits to the table."""
        options, effects = self.options, self.session.effects
        timeout = options.commit_timeout
        return Committer(
            file_io=self.file_io,
            paths=self.paths,
            snapshots=self.snapshots,
            manifests=self.manifests,
            names=FileNames(effects.fresh_uuid),
            retry=RetryPolicy(
                max_retries=options.commit_max_retries,
                min_wait_ms=round(options.commit_min_retry_wait.total_seconds() * 1000),
                max_wait_ms=round(options.commit_max_retry_wait.total_seconds() * 1000),
                timeout_ms=round(timeout.total_seconds() * 1000) if timeout else None,
            ),
            effects=effects,
            strict_mode=self._strict_mode,
            row_ids=RowIds(options.row_tracking_partition_group_on_commit)
            if options.row_tracking_enabled
            else None,
            writes_earliest=not options.write_only,
        )

    @property
    def _strict_mode(self) -> StrictMode | None:
        last_safe = self.options.commit_strict_mode_last_safe_snapshot
        # -1 spares the first commit of a committer, and each commit of Lakebed's has its own.
        if last_safe is None or last_safe == -1:
            return None
        return StrictMode(last_safe=last_safe, snapshots=self.snapshots, manifests=self.manifests)

    @property
    def history(self) -> History:
        """The table's snapshots, tags and changelogs."""
        return History(
            snapshots=self.snapshots,
            tags=Tags(self.file_io, self.paths),
            changelogs=Changelogs(self.file_io, self.paths),
            options=self.schema.options,
            changelog_producer=self.options.changelog_producer,
            time_zone=self.session.time_zone,
        )

    def scan(
        self,
        source: ScanSource,
        *,
        columns: Sequence[str] | None = None,
        where: str | Expression | None = None,
        limit: int | None = None,
    ) -> Scan:
        """A scan of a snapshot or of changes, read through the schema of these parts.

        Raises:
            InvalidArgumentError: An unknown or doubled column, a bad condition, a limit below 0.
            UnsupportedError: An option of the table changes rows in a way Lakebed does not know.
        """
        if limit is not None and limit < 0:
            raise InvalidArgumentError(f"limit is {limit}; it cannot be below 0")
        check_openable(self.schema.options, use="read")
        names = chosen_columns(columns, self.schema)
        predicate = (
            parse_predicate(where, self.schema.row_type, time_zone=self.session.time_zone)
            if isinstance(where, str)
            else where
        )
        file_schemas = self.schemas.load_all()
        return Scan(
            source=source,
            planner=Planner(
                table_schema=self.schema,
                file_schemas=file_schemas,
                options=self.options,
                texts=self.texts,
                manifests=self.manifests,
                split_files=self.split_files,
                index_paths=self.index_paths,
            ),
            reader=SplitReader(
                file_io=self.file_io,
                table_schema=self.schema,
                file_schemas=file_schemas,
                options=self.texts,
                columns=names,
                predicate=predicate,
                merge_memory=self.session.merge_memory,
                time_zone=self.session.time_zone,
            ),
            limit=limit,
            threads=self.session.read_threads,
        )

    def write_base(self) -> WriteBase:
        """What writers of rows start from, as of now.

        Raises:
            UnsupportedError: An option of the table changes files in a way Lakebed does not know.
        """
        base = self.rewrite_base()
        if base.snapshot is None or not (self.options.bucket > 0 or self.schema.primary_keys):
            return base
        live = self.manifests.live(base.snapshot, partitions=EveryPartition())
        writes = replace(base.writes, max_sequence_numbers=max_sequence_numbers(live))
        return replace(base, counts=bucket_counts(live), writes=writes)

    def rewrite_base(self) -> WriteBase:
        """The same for those who write rows again that are there; no manifest is read for it.

        Raises:
            UnsupportedError: An option of the table changes files in a way Lakebed does not know.
        """
        check_openable(self.schema.options, use="write")
        return WriteBase(
            snapshot=self.snapshots.latest(),
            counts={},
            writes=BucketWrites(
                file_io=self.file_io,
                paths=self.paths,
                table_schema=self.schema,
                options=self.options,
                uuid_source=self.session.effects.fresh_uuid,
                local_millis=self.session.wall_clock_ms,
                time_zone=self.session.time_zone,
                max_sequence_numbers={},
            ),
        )


def chosen_columns(columns: Sequence[str] | None, schema: TableSchema) -> tuple[str, ...]:
    """The columns that a scan names, all by default.

    Raises:
        InvalidArgumentError: An unknown or doubled column.
    """
    if columns is None:
        return tuple(schema.names)
    if isinstance(columns, str):
        raise InvalidArgumentError(f"columns is a list of names, not the text {columns!r}")
    chosen = tuple(columns)
    for name in chosen:
        schema.field(name)
    if len(set(chosen)) < len(chosen):
        raise InvalidArgumentError(f"columns names one column twice: {', '.join(chosen)}")
    return chosen
