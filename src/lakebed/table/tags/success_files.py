"""What tells others that a tag was made (`tag.create-success-file`)?

A file `tag-success-file/<tag>_SUCCESS` among the tags says when; it comes after the tag, and goes
after it.
"""

from lakebed.errors import NotFoundError
from lakebed.format.json_text import format_json
from lakebed.table.parts import TableParts


def write_success_file(parts: TableParts, name: str) -> None:
    """Marks a tag as made."""
    now = parts.session.effects.clock()
    text = format_json({"creationTime": now, "modificationTime": now})
    parts.file_io.write(parts.paths.tag_success(name), text.encode())


def move_success_file(parts: TableParts, name: str, target: str) -> None:
    """Gives the mark of a tag to another; none is given where there was none."""
    try:
        data = parts.file_io.read(parts.paths.tag_success(name))
    except NotFoundError:
        return
    parts.file_io.write(parts.paths.tag_success(target), data)


def delete_success_file(parts: TableParts, name: str) -> None:
    """Deletes the mark of a tag, if there is one."""
    parts.file_io.delete(parts.paths.tag_success(name))
