"""Which statement about tags is this, and what are its parts?"""

from dataclasses import dataclass

from lakebed.spark.sql.statements import Name, Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTag(Statement):
    """ALTER TABLE ... CREATE TAG, CREATE OR REPLACE TAG, REPLACE TAG.

    Attributes:
        name: The table.
        tag: The tag.
        snapshot: Id of the snapshot; None for the newest.
        time_retained: How long the tag is kept, as options have it: `7 d`; None for the default.
        if_not_exists: Whether a tag of that name is left as it is.
        is_replace: Whether a tag of that name is replaced.
    """

    name: Name
    tag: str
    snapshot: int | None = None
    time_retained: str | None = None
    if_not_exists: bool = False
    is_replace: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteTags(Statement):
    """ALTER TABLE ... DELETE TAG; a name of no tag is passed over, with IF EXISTS or without."""

    name: Name
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RenameTag(Statement):
    """ALTER TABLE ... RENAME TAG."""

    name: Name
    tag: str
    target: str
    if_exists: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowTags(Statement):
    """SHOW TAGS."""

    name: Name
