"""Compaction of one bucket of a table with a primary key: from a pick to a commit message."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

import numpy as np

from lakebed.format.data_file_meta import DataFileMeta, FileSource
from lakebed.lsm.compaction.pick import Pick
from lakebed.lsm.compaction.rewrite_plan import Rewrite, RewritePlan, Upgrade
from lakebed.lsm.compaction.rewriting import CompactedRows, Rewriting
from lakebed.lsm.merge import Positions
from lakebed.lsm.section_plan import Mask
from lakebed.table.compaction.buckets import BucketFiles, StoredFile
from lakebed.table.compaction.expired_rows import ExpiredRows
from lakebed.table.metadata.index_files import IndexChanges
from lakebed.table.planning.split import SplitSection
from lakebed.table.reading.read import SplitReader
from lakebed.table.writing.bucket_writer import BucketWrites, CompactionWriters
from lakebed.table.writing.commit_message import CommitMessage
from lakebed.table.writing.deletion_vector_files import DeletionVectorFiles, VectorChanges
from lakebed.table.writing.rolling import WrittenFile


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyedCompaction:
    """A compaction of one bucket; travels to tasks.

    Attributes:
        stored: The bucket's files.
        directory: Its directory.
        pick: What is compacted.
        plan: What becomes of it.
        rewriting: How rows are made.
        reader: Reads the table's columns and the system columns.
        writes: Opens files.
        vectors: Writes deletion vectors.
        expired: Rows that are too old.
    """

    stored: BucketFiles
    directory: str
    pick: Pick
    plan: RewritePlan
    rewriting: Rewriting
    reader: SplitReader
    writes: BucketWrites
    vectors: DeletionVectorFiles
    expired: ExpiredRows

    @property
    def output_level(self) -> int:
        """Where the rows go."""
        return self.plan.output_level

    @property
    def rewritten_bytes(self) -> int:
        """What the files take that are read and written anew."""
        return self.plan.rewritten_bytes

    def run(self) -> CommitMessage:
        """Writes what the files become; on an error, leaves no file.

        Raises:
            CorruptTableError: A file cannot be read.
            InvalidDataError: Rows that the merge engine forbids.
            StorageError: A file cannot be written.
        """
        gone: list[DataFileMeta] = []
        risen: list[DataFileMeta] = []
        level = self.plan.output_level
        with self.writes.open_compaction(
            self.stored.bucket, directory=self.directory, level=level
        ) as writers:
            output = _Output(writers)
            for step in self.plan.steps:
                match step:
                    case Rewrite():
                        self._rewrite(step, output)
                        gone.extend(step.files)
                    case Upgrade(file=file, tracks_changes=tracks):
                        if tracks:
                            self._tell_changes(file, output)
                        gone.append(file)
                        risen.append(replace(file, level=level))
            files, changelog = writers.files.finish(), writers.changelog.finish()
            rewritten = {file.file_name for file in gone} - {file.file_name for file in risen}
            index = self._vectors(output.dead, rewritten)
        return CommitMessage(
            partition=self.stored.partition,
            bucket=self.stored.bucket,
            total_buckets=self.stored.total_buckets,
            new_files=(*risen, *(self._meta(file) for file in files)),
            deleted_files=tuple(gone),
            changelog_files=tuple(self._meta(file) for file in changelog),
            new_index_files=index.added,
            deleted_index_files=index.deleted,
        )

    def _rewrite(self, step: Rewrite, output: "_Output") -> None:
        rewriting = self.rewriting if step.tracks_changes else self.rewriting.untracked()
        sections = [
            [[self._file(meta) for meta in run] for run in section] for section in step.sections
        ]
        if step.tracks_changes:
            sections = [_joined(sections)]
        for runs in sections:
            older = self._older(runs) if rewriting.looks_below else []
            for compacted in self._compacted(rewriting, [*runs, *older], output):
                output.writers.files.gather(compacted.rows)
        output.writers.files.roll()
        output.writers.changelog.roll()

    def _tell_changes(self, meta: DataFileMeta, output: "_Output") -> None:
        """The changes that come with a file whose rows stay where they are."""
        runs = [[self._file(meta)]]
        older = self._older(runs)
        rewriting = self.rewriting
        if not rewriting.tells_changes and not (rewriting.tells_dead and older):
            return
        for _ in self._compacted(rewriting, [*runs, *older], output):
            pass
        output.writers.changelog.roll()

    def _compacted(
        self, rewriting: Rewriting, runs: Sequence[Sequence[StoredFile]], output: "_Output"
    ) -> Iterator[CompactedRows]:
        """What some runs become; their changes and dead rows have gone to the output."""
        expired = self._expired(rewriting, runs)
        section = SplitSection(tuple(tuple(file.split_file for file in run) for run in runs))
        hidden = {file.split_file.path: rows for file, rows in expired}
        for compacted in rewriting.rows_of(self.reader.section_files(section, hidden=hidden)):
            output.tell(compacted, runs)
            yield compacted
        if rewriting.tells_dead:
            for file, rows in expired:
                if self._stays(file):
                    output.mark_dead(file.meta, rows)

    def _expired(
        self, rewriting: Rewriting, runs: Sequence[Sequence[StoredFile]]
    ) -> list[tuple[StoredFile, Mask]]:
        """The files that have expired rows, and these; a key that stays is known for ever."""
        return [
            (file, rows)
            for run in runs
            for file in run
            if not (rewriting.drops_known_keys and self._stays(file))
            and (rows := self.expired.rows_of(file.split_file, self.reader)) is not None
        ]

    def _stays(self, file: StoredFile) -> bool:
        return file.meta.level > self.plan.output_level

    def _vectors(self, dead: Mapping[str, Mask], rewritten: Collection[str]) -> IndexChanges:
        """Marks rows of files that stay, and drops the vectors of files that are rewritten."""
        vectors = {}
        for name, rows in dead.items():
            removed = self.reader.removed(self.stored.files[name].split_file)
            deleted = rows if removed is None else rows | removed
            vectors[name] = self.vectors.encode(deleted, data_file=name)
        place = (self.stored.partition, self.stored.bucket)
        changes = VectorChanges(vectors=vectors, gone=rewritten)
        return self.vectors.change(place, self.stored.vectors, changes)

    def _older(self, runs: Sequence[Sequence[StoredFile]]) -> list[list[StoredFile]]:
        """The files above the output level that may hold keys of some runs, level by level."""
        low = min(file.low for run in runs for file in run)
        high = max(file.high for run in runs for file in run)
        found = (
            file
            for file in self.stored.files.values()
            if self._stays(file) and file.low <= high and file.high >= low
        )
        ordered = sorted(found, key=lambda file: (file.meta.level, file.low))
        return [list(files) for _, files in groupby(ordered, key=lambda file: file.meta.level)]

    def _file(self, meta: DataFileMeta) -> StoredFile:
        return self.stored.files[meta.file_name]

    def _meta(self, file: WrittenFile) -> DataFileMeta:
        sequences = file.summary.sequence_range
        if sequences is None:
            raise ValueError(f"rows of {file.name} came without sequence numbers")
        return file.meta(
            schema_id=self.writes.table_schema.id,
            level=self.plan.output_level,
            created_ms=self.writes.local_millis(),
            source=FileSource.COMPACT,
            sequences=sequences,
        )


@dataclass(frozen=True, slots=True)
class _Output:
    """What comes of a compaction.

    Attributes:
        writers: Where rows and changes go.
        dead: Which rows are to be marked deleted, by the name of their data file.
    """

    writers: CompactionWriters
    dead: dict[str, Mask] = field(default_factory=dict)

    def tell(self, compacted: CompactedRows, runs: Sequence[Sequence[StoredFile]]) -> None:
        """Takes the changes, and the dead rows of the files that they come from."""
        if compacted.changelog is not None:
            self.writers.changelog.gather(compacted.changelog)
        files = [file for run in runs for file in run]
        for place, rows in compacted.dead.items():
            self.mark_dead(files[place].meta, rows)

    def mark_dead(self, meta: DataFileMeta, rows: Positions | Mask) -> None:
        """Takes dead rows of a file."""
        none = np.zeros(meta.row_count, np.bool_)
        self.dead.setdefault(meta.file_name, none)[rows] = True


def _joined(sections: Sequence[Sequence[Sequence[StoredFile]]]) -> list[list[StoredFile]]:
    """Sections one after the other as one: their n-th runs make one run."""
    count = max(map(len, sections))
    return [
        [file for section in sections if len(section) > index for file in section[index]]
        for index in range(count)
    ]
