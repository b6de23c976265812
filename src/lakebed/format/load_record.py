"""How do files say which files were loaded into a table (COPY INTO)?

A record is one line of JSON. A file is known by path, size and time of its last change, so that it
is loaded again once it was changed.
"""

from typing import Self

import msgspec

from lakebed.errors import CorruptTableError
from lakebed.format.json_text import format_flat_json, parse_json_object


class _JsonFile(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    def to_json(self) -> bytes:
        """The bytes of the file."""
        return format_flat_json(msgspec.to_builtins(self)).encode()

    @classmethod
    def from_json(cls, data: bytes, path: str) -> Self:
        """What a file holds.

        Raises:
            CorruptTableError: Something else.
        """
        members = parse_json_object(data, path)
        try:
            return msgspec.convert(members, cls)
        except msgspec.ValidationError as error:
            raise CorruptTableError(
                path,
                f"says nothing of a load: {error}. Delete it; what it told of is then loaded again",
            ) from error


class LoadRecord(_JsonFile, frozen=True, kw_only=True, rename="camel"):
    """A file that was loaded.

    Attributes:
        file_path: Its path, as Hadoop spells paths.
        file_size: Bytes.
        last_modified: Epoch milliseconds.
        loaded_at: Epoch milliseconds.
        snapshot_id: The newest snapshot once its rows were there; -1 for none.
        rows_loaded: How many of its rows were.
    """

    file_path: str
    file_size: int
    last_modified: int
    loaded_at: int
    snapshot_id: int
    rows_loaded: int


class PendingLoad(_JsonFile, frozen=True, kw_only=True, rename="camel"):
    """What one COPY INTO is about to commit; a file of Lakebed's own.

    Attributes:
        commit_user: By whom the snapshot of the rows will be, and no other.
        branch: The branch that it goes to.
        latest_snapshot_id: The newest snapshot before it; 0 for none.
        files: Records of the files; their snapshot is not known yet.
    """

    commit_user: str
    branch: str
    latest_snapshot_id: int
    files: tuple[LoadRecord, ...]
