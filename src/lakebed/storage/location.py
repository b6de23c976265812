"""Which store holds a location, and how are locations spelled?

Locations are parsed in `storage/uri.py`; the stores know that module only, so this one may know
the stores.
"""

from collections.abc import Mapping

from lakebed.errors import InvalidArgumentError
from lakebed.storage.file_io import FileIO
from lakebed.storage.local import LocalFileIO
from lakebed.storage.memory import PROCESS_MEMORY
from lakebed.storage.uri import Location, join, parse_location

__all__ = ["SINGLE_WRITER", "Location", "file_io_for", "join", "parse_location"]

SINGLE_WRITER = "lakebed.commit.single-writer"


def file_io_for(location: str, options: Mapping[str, str]) -> FileIO:
    """The store of a location.

    Args:
        location: A path or URI, as `parse_location` takes them.
        options: Options of the catalog; `lakebed.commit.single-writer` is the one read here.

    Raises:
        UnsupportedError: No store for the scheme.
        InvalidArgumentError: The location or the option's value cannot be.
    """
    if parse_location(location).scheme == "memory":
        return PROCESS_MEMORY
    return LocalFileIO(single_writer=_parse_single_writer(options))


def _parse_single_writer(options: Mapping[str, str]) -> bool:
    value = options.get(SINGLE_WRITER, "false")
    match value.strip().lower():
        case "true":
            return True
        case "false":
            return False
        case _:
            raise InvalidArgumentError(f"option {SINGLE_WRITER} is true or false, not {value!r}")
