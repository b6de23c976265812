"""How is a branch made whole or not at all, and how is one taken away?

Whoever makes a branch writes, in this order:

1. the mark     beside the schemas (`TablePaths.unfinished_mark`): from here on nobody reads the
                branch, and nobody else makes one of this name
2. the rest     snapshots, tags and whatever else names files, which are kept from here on
3. a look       whether what was copied is still there; else all of it is taken back
4. the schemas  the newest first, for other engines do not know the mark
5. the mark     deleted: *from here on the branch is found*

Whoever takes one away writes the mark, deletes the schemas, then all else. A crash in either leaves
a branch that is not found; the same call goes on with it, and deleting it takes it away.
"""

from collections.abc import Callable, Iterator, Mapping

from lakebed.errors import AlreadyExistsError, CommitConflictError, NotFoundError
from lakebed.format.paths import TablePaths, schema_id_of
from lakebed.storage.file_io import FileIO
from lakebed.table.history_changes.copying import put_same
from lakebed.table.parts import TableParts


def make_branch(
    parts: TableParts,
    name: str,
    *,
    intent: str,
    files: Mapping[str, bytes],
    check: Callable[[], None],
) -> None:
    """Makes a branch that is not found yet.

    Args:
        parts: The table.
        name: The branch.
        intent: What is made, in words that are the same in each try.
        files: Its files, by path.
        check: Raises NotFoundError where what they were copied from is gone.

    Raises:
        AlreadyExistsError: Something else of this name is half made or half deleted.
        CommitConflictError: Somebody deleted the branch at the same time.
        NotFoundError: What was copied is gone; nothing is left of the branch.
    """
    file_io, paths = parts.file_io, parts.paths.of_branch(name)
    if intent_of_mark(file_io, paths) != intent:
        _claim(parts, name, intent=intent)
    ids = {path: schema_id_of(path.rpartition("/")[2]) for path in files}
    for path in files:
        if ids[path] is None:
            file_io.write(path, files[path])
    try:
        check()
    except NotFoundError:
        take_away(file_io, paths, intent="delete")
        raise
    schemas = {path: schema_id for path, schema_id in ids.items() if schema_id is not None}
    for path in sorted(schemas, key=schemas.__getitem__, reverse=True):
        file_io.write(path, files[path])
    if not file_io.delete(paths.unfinished_mark):
        raise CommitConflictError(
            f"{paths.location}: somebody else made or deleted branch {name!r} at the same time. "
            "Look whether it is there, and is what it should be"
        )


def take_away(file_io: FileIO, paths: TablePaths, *, intent: str) -> None:
    """Deletes all that is a branch's own; files that it shares with others stay.

    Args:
        file_io: The store.
        paths: Of the branch.
        intent: What is done, for whoever finds it half done.
    """
    file_io.write(paths.unfinished_mark, intent.encode())
    for status in file_io.list(paths.schema_directory):
        if schema_id_of(status.name) is not None:
            file_io.delete(status.path)
    file_io.delete_directory(paths.metadata_directory)


def intent_of_mark(file_io: FileIO, paths: TablePaths) -> str | None:
    """What somebody began to do with a branch and did not end; None where nobody did."""
    try:
        return file_io.read(paths.unfinished_mark).decode().partition("\n")[0]
    except NotFoundError:
        return None


def files_below(file_io: FileIO, directory: str) -> Iterator[str]:
    """Paths of all files in a directory and in those within."""
    for status in file_io.list(directory):
        if status.is_directory:
            yield from files_below(file_io, status.path)
        else:
            yield status.path


def _claim(parts: TableParts, name: str, *, intent: str) -> None:
    file_io, paths = parts.file_io, parts.paths.of_branch(name)
    mark = f"{intent}\n{parts.session.effects.fresh_uuid()}"
    half_made = AlreadyExistsError(
        "branch",
        name,
        hint="It is half made or half deleted, or somebody is at it now; delete_branch takes away "
        "what is left",
    )
    if not put_same(file_io, paths.unfinished_mark, mark.encode()):
        raise half_made
    if any(
        path != paths.unfinished_mark for path in files_below(file_io, paths.metadata_directory)
    ):
        file_io.delete(paths.unfinished_mark)
        raise half_made
