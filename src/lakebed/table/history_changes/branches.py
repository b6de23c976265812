"""Branches that are made, renamed and deleted."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from lakebed.errors import AlreadyExistsError, InvalidArgumentError, NotFoundError
from lakebed.format.paths import MAIN_BRANCH, TablePaths
from lakebed.format.tag import Tag
from lakebed.table.history_changes.copying import branch_runs, release_after, snapshot_bytes
from lakebed.table.history_changes.making import (
    files_below,
    intent_of_mark,
    make_branch,
    take_away,
)
from lakebed.table.metadata.branches import Branches, check_branch_name
from lakebed.table.metadata.tags import Tags
from lakebed.table.parts import TableParts

_READ_OPTIONS = ("scan.fallback-branch", "scan.primary-branch")
_DELETION = "delete"


def create_branch(parts: TableParts, name: str, *, tag: str | None, ignore_if_exists: bool) -> None:
    """Makes a branch of a tag, or an empty one.

    Args:
        parts: The table, or the branch from which it is made.
        name: The new branch.
        tag: The tag; without one the branch has the schemas alone.
        ignore_if_exists: Whether a branch that is there is left as it is.

    Raises:
        AlreadyExistsError: There is a branch of this name.
        InvalidArgumentError: No branch can have this name.
        NotFoundError: There is no such tag.
    """
    check_branch_name(name)
    if Branches(parts.file_io, parts.paths).find_schema(name) is not None:
        if ignore_if_exists:
            return
        raise AlreadyExistsError("branch", name)
    tags = Tags(parts.file_io, parts.paths)
    source = None if tag is None else tags.load(tag)
    branch = parts.paths.of_branch(name)
    last_schema = max(parts.schemas.list_ids()) if source is None else source.snapshot.schema_id
    files = dict(_schema_files(parts, branch, last_schema))
    intent = f"create with schema {last_schema}"
    if source is not None:
        intent = f"create of tag {source.name} of snapshot {source.snapshot.id}"
        files |= _snapshot_files(parts, branch, source)

    def check() -> None:
        if source is not None and tags.load(source.name) != source:
            raise NotFoundError("tag", source.name, hint="It is of another snapshot this moment")

    make_branch(parts, name, intent=intent, files=files, check=check)


def delete_branches(parts: TableParts, names: Sequence[str]) -> None:
    """Deletes branches, and the files that only they need.

    Args:
        parts: The table.
        names: The branches; also one that is half made or half deleted.

    Raises:
        CorruptTableError: Something that names files of a branch cannot be read; it is left.
        InvalidArgumentError: One is the branch that is open, the main one, or one that an option of
            the table names; nothing was deleted.
        NotFoundError: One is not there; nothing was deleted.
    """
    branches = Branches(parts.file_io, parts.paths)
    present = branches.list_names()
    for name in names:
        _check_deletable(parts, name)
        if name not in present:
            raise branches.missing(name)
    for name in names:
        branch = replace(parts, paths=parts.paths.of_branch(name))
        runs = branch_runs(branch)
        take_away(parts.file_io, branch.paths, intent=_DELETION)
        release_after(parts, runs, done=f"deleted branch {name!r}")


def rename_branch(parts: TableParts, from_branch: str, to_branch: str) -> None:
    """Gives a branch another name.

    Its files are copied to the new name; then a mark hides the old one, what was committed or
    expired there meanwhile is so here too, the new one is found, and the old one deleted. For a
    moment neither is found. The same call ends what a crash left.

    Args:
        parts: The table.
        from_branch: Its name.
        to_branch: Its new name.

    Raises:
        AlreadyExistsError: There is a branch of the new name.
        InvalidArgumentError: No branch can have the new name, or it is the main branch.
        NotFoundError: There is no branch of the old name.
    """
    check_branch_name(to_branch)
    check_branch_name(from_branch)
    file_io, old = parts.file_io, parts.paths.of_branch(from_branch)
    branches = Branches(file_io, parts.paths)
    moved = f"renamed to {to_branch}"
    is_moved = intent_of_mark(file_io, old) == moved
    if branches.find_schema(from_branch) is None and not is_moved:
        raise branches.missing(from_branch)
    if branches.find_schema(to_branch) is None:
        _copy_branch(parts, from_branch, to_branch, moved=moved)
    elif not is_moved:
        raise AlreadyExistsError("branch", to_branch)
    take_away(file_io, old, intent=moved)


def _copy_branch(parts: TableParts, from_branch: str, to_branch: str, *, moved: str) -> None:
    file_io = parts.file_io
    old, new = (parts.paths.of_branch(name) for name in (from_branch, to_branch))

    def copies() -> Iterator[tuple[str, bytes]]:
        for path in files_below(file_io, old.metadata_directory):
            if path != old.unfinished_mark:
                target = new.metadata_directory + path.removeprefix(old.metadata_directory)
                yield target, file_io.read(path)

    def copy_what_came() -> None:
        file_io.write(old.unfinished_mark, moved.encode())
        now = dict(copies())
        for path in files.keys() - now.keys():
            file_io.delete(path)
        for path in now.keys() - files.keys():
            file_io.write(path, now[path])

    files = dict(copies())
    intent = f"rename {from_branch}"
    make_branch(parts, to_branch, intent=intent, files=files, check=copy_what_came)


def _schema_files(parts: TableParts, branch: TablePaths, last: int) -> Iterator[tuple[str, bytes]]:
    for schema_id in parts.schemas.list_ids():
        if schema_id <= last:
            yield branch.schema(schema_id), parts.file_io.read(parts.paths.schema(schema_id))


def _snapshot_files(parts: TableParts, branch: TablePaths, tag: Tag) -> dict[str, bytes]:
    return {
        branch.snapshot(tag.snapshot.id): snapshot_bytes(parts, tag.snapshot),
        branch.tag(tag.name): parts.file_io.read(parts.paths.tag(tag.name)),
    }


def _check_deletable(parts: TableParts, name: str) -> None:
    if name in (MAIN_BRANCH, parts.paths.branch):
        raise InvalidArgumentError(f"branch {name!r} is the one that is open, or the main one")
    check_branch_name(name)
    for key in _READ_OPTIONS:
        if parts.texts.get(key, "").strip() == name:
            raise InvalidArgumentError(
                f"branch {name!r} cannot be deleted, for {key!r} of the table names it; reset that "
                "option before"
            )
    moved = intent_of_mark(parts.file_io, parts.paths.of_branch(name)) or ""
    if moved.startswith("renamed to "):
        raise InvalidArgumentError(f"branch {name!r} is half {moved!r}; rename it once more")
