"""Which files of an append table are compacted?

Rows are never merged there, so compaction only makes large files of small ones, and takes out rows
that a deletion vector marks. In a bucket rows have an order and files next to each other are
picked; without buckets they have none, and the files of a partition are packed by size:

    target 5, min.file-num 5
    bucket      9 2 1 3 9 1 1 2 1 1    five in a row, of which four take less than two targets
                          [-------]
    partition   1 1 2 2 2 2 2 2        by size, two targets a task; the rest, too few, is left
                [---------]
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lakebed.format.data_file_meta import DataFileMeta
from lakebed.lsm.compaction.levels import size_of
from lakebed.lsm.compaction.pick import size_text
from lakebed.options.compaction_options import CompactionOptions
from lakebed.options.table_options import TableOptions

# How many large files of the target a task or a window of files is about.
_TARGETS = 2
_FULL_MIN_FILE_COUNT = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletedRows:
    """What is known of a file's deletion vector.

    Attributes:
        index_file: The index file that holds it.
        row_count: How many rows it marks; None if that was not written down.
    """

    index_file: str
    row_count: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendPick:
    """Files of an append table that are compacted together.

    Attributes:
        files: The files, in the order in which their rows are written again.
        why: The reason, in a sentence for users.
    """

    files: tuple[DataFileMeta, ...]
    why: str

    @property
    def output_level(self) -> int:
        """Append tables have no levels, but for clustering."""
        return 0

    @property
    def size_bytes(self) -> int:
        """What the files take."""
        return size_of(self.files)


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendCompaction:
    """The policy.

    Attributes:
        min_file_count: `compaction.min.file-num`.
        target_file_size: `target-file-size`.
        small_file_size: Below which size a file is small.
        open_file_cost: `source.split.open-file-cost`: what a file counts for beside its size.
        delete_ratio: `compaction.delete-ratio-threshold`.
        with_deletion_vectors: `deletion-vectors.enabled`.
        rewrites_all: `compaction.force-rewrite-all-files`.
    """

    min_file_count: int
    target_file_size: int
    small_file_size: int
    open_file_cost: int
    delete_ratio: float
    with_deletion_vectors: bool
    rewrites_all: bool

    @classmethod
    def of(cls, table: TableOptions, compaction: CompactionOptions) -> "AppendCompaction":
        """The policy that the options ask for."""
        return cls(
            min_file_count=compaction.min_file_count,
            target_file_size=table.target_file_size,
            small_file_size=compaction.small_file_size(table.target_file_size),
            open_file_cost=table.source_split_open_file_cost,
            delete_ratio=compaction.delete_ratio,
            with_deletion_vectors=compaction.with_deletion_vectors,
            rewrites_all=compaction.rewrites_all,
        )

    def pick_in_bucket(self, files: Iterable[DataFileMeta]) -> AppendPick | None:
        """The first files next to each other, in the order of their rows, that are many and small.

        Args:
            files: The live files of a bucket.
        """
        window: list[DataFileMeta] = []
        for file in _in_row_order(files):
            window.append(file)
            if len(window) >= self.min_file_count:
                why = f"{len(window)} files next to each other take {size_text(size_of(window))}"
                return AppendPick(files=tuple(window), why=why)
            if size_of(window) >= self.target_file_size * _TARGETS:
                window.pop(0)
        return None

    def pick_full_bucket(
        self, files: Iterable[DataFileMeta], *, deleted: Mapping[str, DeletedRows]
    ) -> AppendPick | None:
        """What a full compaction of a bucket compacts: all but the large files that come first.

        Args:
            files: The live files of the bucket.
            deleted: The deletion vectors of those that have one, by file name.
        """
        found = _in_row_order(files)
        if self.rewrites_all:
            why = "compaction.force-rewrite-all-files asks for every file"
            return AppendPick(files=tuple(found), why=why) if found else None
        stays = 0
        while stays < len(found) and self._is_done(found[stays], deleted):
            stays += 1
        rest = found[stays:]
        small = sum(file.file_size < self.small_file_size for file in rest)
        marked = sum(file.file_name in deleted for file in rest)
        if self.with_deletion_vectors:
            is_due = marked > 0 or len(rest) > 1
        else:
            is_due = small > len(rest) - small and len(rest) >= _FULL_MIN_FILE_COUNT
        if not is_due:
            return None
        why = _counted(len(rest)) + f", {small} of them small" * (small > 0)
        why += f", {marked} with deleted rows" * (marked > 0)
        return AppendPick(files=tuple(rest), why=why)

    def pack(
        self, files: Iterable[DataFileMeta], *, deleted: Mapping[str, DeletedRows]
    ) -> list[AppendPick]:
        """Cuts the small files of a partition without buckets into tasks.

        Files whose deletion vectors share an index file stay together, so that one task alone
        writes it anew, and none of them waits for others.

        Args:
            files: The live files of the partition.
            deleted: The deletion vectors of those that have one, by file name.
        """
        plain: list[DataFileMeta] = []
        by_index: dict[str, list[DataFileMeta]] = {}
        for file in files:
            if not self._is_worth_it(file, deleted):
                continue
            if file.file_name in deleted:
                by_index.setdefault(deleted[file.file_name].index_file, []).append(file)
            else:
                plain.append(file)
        tasks, rest = self._filled(sorted(by_index.values(), key=size_of))
        picks = [self._marked_task(task) for task in (*tasks, rest) if task]
        tasks, rest = self._filled([file] for file in sorted(plain, key=_size))
        if len(rest) > 1 and len(rest) >= self.min_file_count:
            tasks.append(rest)
        return [*picks, *map(self._small_task, tasks)]

    def _filled(
        self, groups: Iterable[Sequence[DataFileMeta]]
    ) -> tuple[list[list[DataFileMeta]], list[DataFileMeta]]:
        """Tasks that are large enough, and what is left over."""
        tasks: list[list[DataFileMeta]] = []
        task: list[DataFileMeta] = []
        for group in groups:
            task.extend(group)
            cost = size_of(task) + self.open_file_cost * len(task)
            if len(task) > 1 and cost >= self.target_file_size * _TARGETS:
                tasks.append(task)
                task = []
        return tasks, task

    def _is_done(self, file: DataFileMeta, deleted: Mapping[str, DeletedRows]) -> bool:
        return file.file_size >= self.small_file_size and file.file_name not in deleted

    def _is_worth_it(self, file: DataFileMeta, deleted: Mapping[str, DeletedRows]) -> bool:
        """Whether a file is small, or too many of its rows are deleted."""
        if file.file_size < self.small_file_size:
            return True
        rows = deleted.get(file.file_name)
        if rows is None:
            return False
        return rows.row_count is None or rows.row_count > file.row_count * self.delete_ratio

    def _small_task(self, task: Sequence[DataFileMeta]) -> AppendPick:
        limit = size_text(self.small_file_size)
        return AppendPick(files=tuple(task), why=f"{len(task)} files are smaller than {limit}")

    def _marked_task(self, task: Sequence[DataFileMeta]) -> AppendPick:
        return AppendPick(files=tuple(task), why=f"{_counted(len(task))} with deleted rows")


def _in_row_order(files: Iterable[DataFileMeta]) -> list[DataFileMeta]:
    return sorted(files, key=lambda file: file.min_sequence_number)


def _size(file: DataFileMeta) -> int:
    return file.file_size


def _counted(file_count: int) -> str:
    return "1 file" if file_count == 1 else f"{file_count} files"
