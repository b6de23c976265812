"""Which store holds a location, and how are locations spelled?

Locations are parsed in `storage/uri.py`; the stores know that module only, so this one may know
the stores.
"""

from collections.abc import Mapping

from lakebed.storage.file_io import FileIO
from lakebed.storage.openers import OPENERS
from lakebed.storage.store_options import SINGLE_WRITER
from lakebed.storage.uri import Location, join, parse_location

__all__ = ["SINGLE_WRITER", "Location", "file_io_for", "join", "parse_location"]


def file_io_for(location: str, options: Mapping[str, str]) -> FileIO:
    """The store of a location.

    Args:
        location: A path or URI, as `parse_location` takes them.
        options: Options of the catalog; each store reads those of its own.

    Raises:
        UnsupportedError: No store for the scheme.
        InvalidArgumentError: The location or an option's value cannot be.
    """
    parsed = parse_location(location)
    return OPENERS[parsed.scheme](parsed, options)
