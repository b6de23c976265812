"""Which tags a table has (format.md 3)."""

from dataclasses import dataclass
from difflib import get_close_matches

from lakebed.errors import InvalidArgumentError, NotFoundError
from lakebed.format.paths import TablePaths, tag_name_of
from lakebed.format.tag import Tag
from lakebed.storage.file_io import FileIO

_NAMES_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Tags:
    """The tags of one table or branch."""

    file_io: FileIO
    paths: TablePaths

    def load(self, name: str) -> Tag:
        """One tag.

        Raises:
            InvalidArgumentError: No tag can have this name.
            NotFoundError: There is none of it; the message names the nearest.
            CorruptTableError: Its file cannot be read.
        """
        if not name.strip() or "/" in name:
            raise InvalidArgumentError(f"{name!r} cannot name a tag")
        path = self.paths.tag(name)
        try:
            data = self.file_io.read(path)
        except NotFoundError as error:
            raise NotFoundError("tag", name, hint=self._names_hint(name)) from error
        return Tag.from_json(data, path, name=name)

    def find(self, name: str) -> Tag | None:
        """One tag, or None when there is none of that name."""
        try:
            return self.load(name)
        except (NotFoundError, InvalidArgumentError):
            return None

    def list_names(self) -> list[str]:
        """Names of all tags, in order."""
        found = (
            tag_name_of(status.name)
            for status in self.file_io.list(self.paths.tag_directory)
            if not status.is_directory  # that of the success files
        )
        return sorted(name for name in found if name is not None)

    def load_all(self) -> list[Tag]:
        """The tags in order of their names, but those that are deleted meanwhile.

        Raises:
            CorruptTableError: One cannot be read.
        """
        return [each for each in map(self.find, self.list_names()) if each is not None]

    def of_snapshot(self, snapshot_id: int) -> list[Tag]:
        """The tags of what is or was the snapshot of an id, in order of their names.

        Raises:
            CorruptTableError: A tag cannot be read.
        """
        settled = (each for each in self.load_all() if each.is_settled)
        return [each for each in settled if each.snapshot.id == snapshot_id]

    def _names_hint(self, name: str) -> str:
        names = self.list_names()
        if not names:
            return "The table has no tag"
        near = get_close_matches(name, names, n=_NAMES_SHOWN) or names[:_NAMES_SHOWN]
        more = len(names) - len(near)
        return f"There is {', '.join(near)}{f' and {more} more' if more else ''}"
