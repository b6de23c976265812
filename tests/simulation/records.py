"""What actors ask of a table, and what they put for it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from lakebed.format.snapshot import CommitKind, Snapshot
from simulation.contents import Contents
from simulation.models import Change, unchanged

Outcome = Literal["acknowledged", "nothing", "refused", "unknown"]
Removal = Literal["expired", "rolled back", "branch", ""]
Fate = Literal["expired", "rolled back", "taken back", "replaced", ""]


@dataclass(slots=True, eq=False, kw_only=True)
class Intent:
    """What an actor asks of the table, in one operation or several tries of it.

    Attributes:
        what: In words.
        change: What becomes of the rows.
        started_ms: When it began.
        removes: Whether it deletes snapshots: old ones, new ones, or all of a branch.
        records: The snapshots that it put, those of compactions that come with rows too.
        earlier: How many of them earlier tries put.
    """

    what: str
    change: Change = unchanged
    started_ms: int = 0
    removes: Removal = ""
    records: list["Record"] = field(default_factory=list)
    earlier: int = 0


@dataclass(slots=True, eq=False, kw_only=True)
class Record:
    """A snapshot that was put.

    Attributes:
        snapshot: It.
        base: What its writer built on.
        contents: What it names and holds.
        is_adrift: Whether the base was not before it when it was put.
        is_acknowledged: Whether its writer was told that it is there.
        fate: What became of it; the empty text as long as it can be found.
    """

    snapshot: Snapshot
    base: "Record | None"
    contents: Contents
    is_adrift: bool
    is_acknowledged: bool = False
    fate: Fate = ""

    def __str__(self) -> str:
        return f"snapshot {self.snapshot.id} ({self.snapshot.uuid})"

    @property
    def is_compaction(self) -> bool:
        """Whether no row changed."""
        return self.snapshot.commit_kind is CommitKind.COMPACT

    def line(self) -> Iterator["Record"]:
        """It and all that it builds on."""
        record: Record | None = self
        while record is not None:
            yield record
            record = record.base
