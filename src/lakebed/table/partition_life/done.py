"""How is a partition marked as done (`partition.mark-done-action`)?

A file `_SUCCESS` in the partition's directory says when it was first done, and when last. It is
written whole or not at all; of several partitions those before a crash are marked, and to mark them
again does no harm.
"""

from collections.abc import Iterable, Mapping, Sequence

from lakebed.errors import CorruptTableError, InvalidArgumentError, NotFoundError, UnsupportedError
from lakebed.format.json_text import format_json, parse_json_object
from lakebed.format.partition_path import format_partition
from lakebed.options.partition_options import PartitionOptions
from lakebed.table.parts import TableParts
from lakebed.table.writing.partition_spec import converted_spec

_SUCCESS_FILE = "success-file"
_CREATED, _MODIFIED = "creationTime", "modificationTime"


def mark_done(parts: TableParts, paths: Iterable[str]) -> None:
    """Marks partitions as done.

    Args:
        parts: The table.
        paths: Their directories below the table.

    Raises:
        CorruptTableError: An earlier mark cannot be read; it stays, and partitions after it are not
            marked.
        UnsupportedError: `partition.mark-done-action` asks for something else too; no partition is
            marked.
    """
    others = [
        each
        for each in PartitionOptions.parse(parts.texts).mark_done_actions
        if each != _SUCCESS_FILE
    ]
    if others:
        raise UnsupportedError(
            f"{parts.paths.location}: 'partition.mark-done-action' names {others[0]!r}; Lakebed "
            f"marks partitions by a {_SUCCESS_FILE} alone. No partition is marked"
        )
    for path in paths:
        _mark(parts, parts.paths.partition_success(path))


def paths_of_specs(parts: TableParts, specs: Sequence[Mapping[str, object]]) -> list[str]:
    """The directories of partitions that are named by values of their first columns or of all.

    Raises:
        InvalidArgumentError: A name is no partition column, a value none of its type, or a column
            before a named one is not named.
    """
    fields = parts.schema.partition_type.fields
    paths = []
    for spec in specs:
        values = converted_spec(spec, parts.schema)
        named = fields[: len(values)]
        if not values or any(each.name not in values for each in named):
            keys = ", ".join(each.name for each in fields)
            raise InvalidArgumentError(
                f"a partition to mark is named by the first of its columns, {keys}, or by all; "
                f"{dict(spec)} is not"
            )
        paths.append(
            format_partition(
                [values[each.name].as_py() for each in named],
                named,
                default_name=parts.options.partition_default_name,
                legacy=parts.options.partition_legacy_name,
            )
        )
    return paths


def _mark(parts: TableParts, path: str) -> None:
    now = parts.session.effects.clock()
    try:
        mark = parse_json_object(parts.file_io.read(path), path)
    except NotFoundError:
        mark = {_CREATED: now}
    created = mark.get(_CREATED)
    if not isinstance(created, int):
        raise CorruptTableError(path, f"{_CREATED} is {created!r}, not epoch milliseconds")
    text = format_json({_CREATED: created, _MODIFIED: now})
    parts.file_io.write(path, text.encode())
