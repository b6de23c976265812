"""Which module speaks to the store of a scheme?

A store's module has `open_store(location, options) -> FileIO` and is imported when a location
names one of its schemes, because its client takes time and memory to import. A client that is an
extra has the module's name.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Final, TypeAlias

from lakebed.errors import UnsupportedError
from lakebed.storage.file_io import FileIO
from lakebed.storage.uri import Location

Opener: TypeAlias = Callable[[Location, Mapping[str, str]], FileIO]


def _in_module(module: str) -> Opener:
    def open_store(location: Location, options: Mapping[str, str]) -> FileIO:
        try:
            store = import_module(f"lakebed.storage.{module}")
        except ModuleNotFoundError as error:
            raise UnsupportedError(
                f"{location.text}: {location.scheme}: locations need the package {error.name!r}; "
                f"run `pip install 'lakebed[{module}]'`"
            ) from error
        opened: FileIO = store.open_store(location, options)
        return opened

    return open_store


_MODULES: Final[Mapping[str, tuple[str, ...]]] = {
    "local": ("file",),
    "memory": ("memory",),
    "s3": ("s3", "s3a", "s3n"),
    "azure": ("abfs", "abfss", "wasb", "wasbs", "az", "azure"),
    "gcs": ("gs",),
    "oss": ("oss",),
    "hdfs": ("hdfs", "viewfs"),
}

OPENERS: Final[Mapping[str, Opener]] = {
    scheme: _in_module(module) for module, schemes in _MODULES.items() for scheme in schemes
}
"""By scheme, what makes a `FileIO` of a location and a catalog's options."""
