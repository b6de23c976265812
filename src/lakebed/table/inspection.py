"""What a table does to prove itself."""

from abc import ABC, abstractmethod

from lakebed.table.checking.check import Check, Depth
from lakebed.table.checking.findings import Findings
from lakebed.table.parts import TableParts


class Inspection(ABC):
    """Looks at the table whose parts are given; changes nothing."""

    __slots__ = ()

    @abstractmethod
    def parts(self) -> TableParts:
        """The parts of the table."""

    def check(
        self, depth: Depth = "full", *, snapshot_id: int | None = None, tag: str | None = None
    ) -> Findings:
        """Proves that all that the table says of itself is so; nothing is changed.

        Every snapshot, tag, branch and changelog is looked at, unless one is named.

        Args:
            depth: `quick` reads the metadata and looks whether each file is there in its size;
                `full` reads all rows, too.
            snapshot_id: Looks at this snapshot alone.
            tag: Looks at this tag alone.

        Returns:
            What is wrong, where, and what repairs it. It prints well; `is_clean` says whether there
            is no error, and `to_arrow` gives the findings as a table.

        Raises:
            InvalidArgumentError: No such depth, or both a snapshot and a tag.
            NotFoundError: No such snapshot or tag.
        """
        return Check(parts=self.parts(), depth=depth, snapshot_id=snapshot_id, tag=tag).carry_out()
