"""Which table is meant by a bare path, and with which options is it reached?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lakebed.catalog.catalog import Catalog
from lakebed.catalog.loading import create_table, load_table
from lakebed.errors import LakebedError, NotFoundError
from lakebed.format.schema_definition import Schema
from lakebed.options.acceptance import check_catalog_options
from lakebed.spark.registry import Registry
from lakebed.table.table import Table

DATABASE_SUFFIX = ".db"
_READ_OPTIONS = {"snapshot-id": "scan.snapshot-id"}


@dataclass(frozen=True, slots=True)
class Place:
    """A path and the options given with it.

    Attributes:
        path: Directory of a table.
        options: Everything that was given beside it.
        registry: Catalogs whose tables are reached as they were attached.
    """

    path: str
    options: Mapping[str, str]
    registry: Registry | None = None

    @property
    def store_options(self) -> dict[str, str]:
        """Those of the options that say how the store is reached."""
        return {key: value for key, value in self.options.items() if _is_catalogs(key, value)}

    @property
    def table_options(self) -> dict[str, str]:
        """The other options: of a scan, or of a table to be made."""
        store = self.store_options
        return {key: value for key, value in self.options.items() if key not in store}

    def find(self) -> Table | None:
        """The table; None when there is none."""
        try:
            return self.load()
        except NotFoundError:
            return None

    def load(self) -> Table:
        """The table, or the branch or system table of it that stands behind a `$` in the path.

        Raises:
            NotFoundError: There is none.
        """
        attached = self._attached()
        if attached is not None:
            catalog, identifier = attached
            return catalog.load_table(identifier)
        return load_table(self.path, self.store_options)

    def create(self, schema: Schema, *, partition_by: Sequence[str]) -> Table:
        """Makes the table from the options given, `primary-key` among them.

        Raises:
            InvalidTableError: A schema, key or option that cannot be.
            UnsupportedError: An option that Lakebed would not act on.
        """
        options = self.table_options
        attached = self._attached()
        if attached is None:
            return create_table(
                self.path,
                store_options=self.store_options,
                schema=schema,
                partition_by=partition_by,
                options=options,
            )
        catalog, name = attached
        catalog.create_database(name.split(".", 1)[0], ignore_if_exists=True)
        return catalog.create_table(
            name,
            schema=schema,
            partition_by=partition_by,
            options=options,
        )

    def _attached(self) -> tuple[Catalog, str] | None:
        """The attached catalog under whose warehouse the path lies, and the table's name there."""
        if self.registry is None:
            return None
        for attached in self.registry.catalogs.values():
            root = _bare(attached.catalog.warehouse)
            below = _bare(self.path).removeprefix(root + "/").split("/")
            is_below = _bare(self.path).startswith(root + "/") and len(below) == 2
            if is_below and below[0].endswith(DATABASE_SUFFIX):
                return attached.catalog, f"{below[0].removesuffix(DATABASE_SUFFIX)}.{below[1]}"
        return None


def scan_options(options: Mapping[str, str]) -> dict[str, str]:
    """Options of a reader under the keys of the format; Paimon's connector has names of its own."""
    return {_READ_OPTIONS.get(key, key): value for key, value in options.items()}


def _bare(path: str) -> str:
    """The path without what its spellings differ in."""
    scheme, colon, rest = path.partition(":")
    if not colon or "/" in scheme:
        scheme, rest = "file", path
    return f"{scheme}:/{rest.strip('/')}"


def _is_catalogs(key: str, value: str) -> bool:
    try:
        check_catalog_options({key: value})
    except LakebedError:
        return False
    return True
