"""What mends a table after crashes, and after hands that deleted what they should not."""

from abc import ABC, abstractmethod
from dataclasses import replace
from datetime import datetime
from typing import Literal

import pyarrow as pa

from lakebed.errors import InvalidArgumentError
from lakebed.table.cleaning.earliest import repair_earliest_snapshot
from lakebed.table.cleaning.lost_files import remove_unexisting_files
from lakebed.table.cleaning.orphans import oldest_kept_ms, remove_orphan_files
from lakebed.table.cleaning.purge import purge_files
from lakebed.table.parts import TableParts
from lakebed.table.spreading import threads


class Repairs(ABC):
    """Mends the table whose parts are given."""

    __slots__ = ()

    @abstractmethod
    def parts(self) -> TableParts:
        """The parts of the table."""

    def remove_orphan_files(
        self,
        older_than: int | str | datetime | None = None,
        *,
        dry_run: bool = False,
        parallelism: int | None = None,
        mode: Literal["local"] | None = None,
    ) -> pa.Table:
        """Deletes the files that crashed writers left, which nobody needs.

        Args:
            older_than: Younger files stay, for a writer may be about to commit them; told as
                `timestamp` of `scan`. A day ago by default.
            dry_run: Whether it is only said what would be deleted.
            parallelism: How many threads look for files (`lakebed.read.threads`).
            mode: `local`, in this process; as a Spark job the procedure of this name does it.

        Returns:
            The files: `path`, `file_size` and `modification_time`, a row a file.

        Raises:
            CorruptTableError: Something that may need files cannot be read; nothing was deleted.
            InvalidArgumentError: A time that is none or not past, or a number that cannot be.
            NotFoundError: Something that may need files is gone; nothing was deleted.
            UnsupportedError: It is of a newer version; nothing was deleted.
        """
        if mode not in (None, "local"):
            raise InvalidArgumentError(
                f"mode is {mode!r}; a table in this process is cleaned by it alone (local). "
                "CALL sys.remove_orphan_files runs a Spark job"
            )
        parts = _in_threads(self.parts(), parallelism)
        with threads(parts) as spread:
            return remove_orphan_files(
                parts, oldest_kept_ms(parts, older_than), dry_run=dry_run, spread=spread
            )

    def remove_unexisting_files(
        self, *, dry_run: bool = False, parallelism: int | None = None
    ) -> list[str]:
        """Deletes data files from the table that are not there any more; their rows are lost.

        For a table that cannot be read because somebody deleted its files. Older snapshots and tags
        go on naming them.

        Args:
            dry_run: Whether it is only said which.
            parallelism: How many threads look for files (`lakebed.read.threads`).

        Returns:
            Their paths.

        Raises:
            CommitConflictError: Another writer rewrote one of the files meanwhile; nothing is
                visible.
            InvalidArgumentError: A number that cannot be.
            UnsupportedError: The table is one that Lakebed does not write.
        """
        parts = _in_threads(self.parts(), parallelism)
        with threads(parts) as spread:
            return remove_unexisting_files(parts, dry_run=dry_run, spread=spread)

    def purge_files(self) -> None:
        """Deletes every row, branch, tag, consumer and changelog, and all files of theirs.

        The schemas stay, and one snapshot without rows. Nobody else may write to the table
        meanwhile: files that are about to be committed go too.

        Raises:
            CorruptTableError: Something that names files cannot be read; what is left is whole.
            InvalidArgumentError: The table is a branch.
        """
        purge_files(self.parts())

    def repair_earliest_snapshot(self, snapshot_id: int) -> int:
        """Has the hint `EARLIEST` name the first snapshot behind a gap; the ones before stay.

        Args:
            snapshot_id: The first snapshot of those that follow one another up to the newest.

        Returns:
            What was the oldest snapshot before.

        Raises:
            InvalidArgumentError: It is no such snapshot.
        """
        return repair_earliest_snapshot(self.parts(), snapshot_id)


def _in_threads(parts: TableParts, count: int | None) -> TableParts:
    if count is None:
        return parts
    if count < 1:
        raise InvalidArgumentError(f"parallelism is {count}; it cannot be below 1")
    return replace(parts, session=replace(parts.session, read_threads=count))
