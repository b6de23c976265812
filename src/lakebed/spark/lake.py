"""What do Spark's words for tables come to: reading one, creating one, writing to one?

A `Lake` is a session with its attached catalogs. SQL statements, DataFrame readers and writers and
the session's catalog all end here.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from functools import partial
from typing import Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructField, StructType

from lakebed.catalog.catalog import Catalog
from lakebed.errors import InvalidArgumentError, NotFoundError
from lakebed.format.predicate.expressions import Expression
from lakebed.format.schema import TableSchema
from lakebed.format.snapshot import Operation, Snapshot
from lakebed.options.values import parse_boolean
from lakebed.spark.conditions import spark_errors, table_not_found
from lakebed.spark.dynamic_options import given_settings, laid_over
from lakebed.spark.lengths import length_errors
from lakebed.spark.names import TableName, quoted, split_name
from lakebed.spark.new_table import NewTable
from lakebed.spark.places import scan_options
from lakebed.spark.reader import scan_frame
from lakebed.spark.registry import Registry, find_registry
from lakebed.spark.types import to_arrow_schema
from lakebed.spark.writer import write_frame, write_replacement
from lakebed.table.metadata.partitions import PartitionFilter
from lakebed.table.reading.located_rows import PLACE_COLUMNS, TRACKING_COLUMNS, located
from lakebed.table.reading.scan import Scan
from lakebed.table.table import Table

_TIME_ZONE = "spark.sql.session.timeZone"
_OVERWRITE_MODE = "spark.sql.sources.partitionOverwriteMode"
_VERSION = "scan.version"
_TRACKS_ROWS = "row-tracking.enabled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Travel:
    """A point in a table's life; at most one is given.

    Attributes:
        snapshot_id: A snapshot.
        version: A tag, or else the id of a snapshot.
        timestamp_ms: A time.
    """

    snapshot_id: int | None = None
    version: str | None = None
    timestamp_ms: int | None = None


NOW = Travel()


@dataclass(frozen=True, slots=True)
class Lake:
    """A session with attached catalogs.

    Attributes:
        spark: The session.
        registry: Its catalogs.
        sql: Spark's own `sql`, which knows nothing of Lakebed.
    """

    spark: SparkSession
    registry: Registry
    sql: Callable[..., DataFrame]
    # Asked for once: a Lake lives as long as a statement does.
    _settings: list[Mapping[str, str]] = field(
        default_factory=list, init=False, repr=False, compare=False
    )

    def resolve(self, parts: tuple[str, ...]) -> TableName | None:
        """The table of an attached catalog that a name means; None when it is Spark's."""
        return self.registry.resolve_table(parts, is_view=self.is_view)

    def resolve_all(
        self, names: Iterable[tuple[str, ...]]
    ) -> dict[tuple[str, ...], TableName | None]:
        """As `resolve`, for several names; Spark is asked but once."""
        every = list(dict.fromkeys(names))
        views: set[str] | None = None

        def is_view(name: str) -> bool:
            nonlocal views
            if views is None:
                views = self._views(parts[0] for parts in every if len(parts) == 1)
            return name.lower() in views

        return {parts: self.registry.resolve_table(parts, is_view=is_view) for parts in every}

    def resolve_text(self, name: str) -> TableName | None:
        """As `resolve`, for a name with dots and backticks."""
        try:
            return self.resolve(split_name(name))
        except InvalidArgumentError:
            return None

    def is_view(self, name: str) -> bool:
        """Whether a temporary view has that name."""
        return name.lower() in self._views([name])

    def _views(self, names: Iterable[str]) -> set[str]:
        """The temporary views among some names, and perhaps others, in lower case."""
        pattern = "|".join(names).replace("'", "\\'")
        views = self.sql(f"SHOW VIEWS LIKE '{pattern}'").collect()
        return {view.viewName.lower() for view in views if view.isTemporary}

    def catalog(self, name: TableName) -> Catalog:
        """The catalog of a table."""
        return self.registry.catalog(name.catalog)

    def load(self, name: TableName) -> Table:
        """A table as it is now, with the options that the session's settings lay over it.

        Raises:
            AnalysisException: TABLE_OR_VIEW_NOT_FOUND; a setting that is not acted on.
        """
        return self.configured(self.load_stored(name), name)

    def configured(self, table: Table, name: TableName | None = None) -> Table:
        """A table with the options that the session's settings lay over it.

        Args:
            table: The table.
            name: Its name; None where it was found by its path.
        """
        if not self._settings:
            self._settings.append(given_settings(self.spark))
        settings = self._settings[0]
        with spark_errors():
            found = laid_over(table, settings, name=name, catalogs=self.registry.catalogs)
        return replace(found, name=table.name)

    def load_stored(self, name: TableName) -> Table:
        """A table as it is stored, whatever the session's settings say.

        Raises:
            AnalysisException: TABLE_OR_VIEW_NOT_FOUND.
        """
        try:
            with spark_errors(name.catalog):
                table = self.catalog(name).load_table(name.identifier)
        except AnalysisException as error:
            cause = error.__cause__
            if isinstance(cause, NotFoundError):
                raise table_not_found(str(name), hint=cause.hint) from cause
            raise
        return replace(table, name=f"{name.catalog}.{name.identifier}")

    def exists(self, name: TableName) -> bool:
        """Whether there is such a table."""
        try:
            self.catalog(name).load_table(name.identifier)
        except NotFoundError:
            return False
        return True

    @property
    def is_case_sensitive(self) -> bool:
        """Whether names of columns match exactly."""
        return self.setting("spark.sql.caseSensitive") == "true"

    @property
    def time_zone(self) -> tzinfo:
        """The session's zone."""
        name = self.setting(_TIME_ZONE) or "UTC"
        try:
            return ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError) as error:
            raise InvalidArgumentError(
                f"{_TIME_ZONE}={name!r} is no time zone that Python knows; give a name such as"
                " Europe/Paris"
            ) from error

    def setting(self, key: str) -> str | None:
        """A setting of the session."""
        return self.spark.conf.get(key, None)

    def scan(
        self,
        table: Table,
        *,
        columns: Sequence[str] | None = None,
        where: Expression | None = None,
        travel: Travel = NOW,
        options: Mapping[str, str] | None = None,
        hidden: Sequence[str] = (),
    ) -> Scan:
        """A scan of a table.

        Args:
            table: The table.
            columns: Which columns; None for all.
            where: Rows for which it is not true may be left out.
            travel: Of which point.
            options: Options of the scan.
            hidden: Which columns of `hidden_columns` stand behind the others.
        """
        with spark_errors():
            scan = _scan(table, columns, where, travel=travel, options=options or {})
            return located(scan, hidden) if hidden else scan

    def rows(self, scan: Scan) -> DataFrame:
        """The rows of a scan as a frame."""
        with spark_errors():
            cached = self.registry.cached.rows(self.spark, scan, self._planned)
            return self._planned(scan) if cached is None else cached

    def _planned(self, scan: Scan) -> DataFrame:
        return scan_frame(self.spark, self.registry, scan)

    def refresh(self, name: TableName) -> None:
        """Has the rows of a table that are kept be read anew when they are asked for.

        Raises:
            AnalysisException: TABLE_OR_VIEW_NOT_FOUND.
        """
        scan = self.scan(self.load(name))
        with spark_errors():
            self.registry.cached.renew(name, scan, self._planned)

    def read(
        self,
        table: Table,
        *,
        columns: Sequence[str] | None = None,
        where: Expression | None = None,
        travel: Travel = NOW,
        options: Mapping[str, str] | None = None,
        hidden: Sequence[str] = (),
    ) -> DataFrame:
        """The rows of a table as a frame; the arguments are those of `scan`."""
        return self.rows(
            self.scan(
                table, columns=columns, where=where, travel=travel, options=options, hidden=hidden
            )
        )

    def schema_read(
        self, table: Table, *, travel: Travel = NOW, options: Mapping[str, str] | None = None
    ) -> TableSchema:
        """The columns that a table had at the point that is read."""
        with spark_errors():
            return _scan(table, None, None, travel=travel, options=options or {}).table_schema

    def write(
        self,
        frame: DataFrame,
        table: Table,
        *,
        mode: Literal["append", "overwrite", "dynamic"] = "append",
        partition: Mapping[str, object] | PartitionFilter | None = None,
        is_small: bool = False,
        operation: Operation | None = None,
        user: str | None = None,
        identifier: int | None = None,
    ) -> Snapshot | None:
        """Writes aligned rows to a table, and commits them; None for nothing to commit."""
        with spark_errors(), length_errors():
            return write_frame(
                frame,
                table,
                self.registry,
                overwrite="dynamic" if mode == "dynamic" else partition,
                is_overwrite=mode != "append",
                is_small=is_small,
                operation=operation,
                user=user,
                identifier=identifier,
            )

    def overwrite_mode(self, option: str | None = None) -> Literal["overwrite", "dynamic"]:
        """What overwriting means by the session's setting, or by a writer's option."""
        mode = option or self.setting(_OVERWRITE_MODE) or "static"
        return "dynamic" if mode.lower() == "dynamic" else "overwrite"

    def create(
        self, name: TableName, definition: NewTable, *, ignore_if_exists: bool = False
    ) -> Table:
        """Makes a table."""
        with spark_errors(name.catalog):
            table = self.catalog(name).create_table(
                name.identifier, ignore_if_exists=ignore_if_exists, **definition.arguments()
            )
        return replace(table, name=f"{name.catalog}.{name.identifier}")

    def replace_table(
        self,
        name: TableName,
        definition: NewTable,
        *,
        frame: DataFrame | None = None,
        operation: Operation,
    ) -> None:
        """Makes another table of one that is there, with the rows of a frame or without any.

        Raises:
            AnalysisException: TABLE_OR_VIEW_NOT_FOUND; whatever a new table is refused for.
        """
        self.load(name)
        with spark_errors(name.catalog), length_errors():
            replacement = self.catalog(name).replacement(name.identifier, **definition.arguments())
            if frame is None:
                replacement.carry_out()
            else:
                write_replacement(frame, replacement, self.registry, operation=operation)

    def empty(self) -> DataFrame:
        """What a statement without an answer returns."""
        # Known to be empty without a job, as a frame of a list is not.
        return self.spark.range(1).limit(0).select()

    def frame(self, rows: Sequence[tuple[object, ...]], fields: Sequence[StructField]) -> DataFrame:
        """A small answer; from Arrow, so that no job brings it back."""
        schema = StructType(list(fields))
        arrow = to_arrow_schema(schema)
        columns = [[row[place] for row in rows] for place in range(len(arrow))]
        arrays = [
            pa.array(column, field.type) for column, field in zip(columns, arrow, strict=True)
        ]
        return self.spark.createDataFrame(pa.table(arrays, schema=arrow), schema)


def hidden_columns(table: Table) -> tuple[str, ...]:
    """Columns that a table has beside its own, which are read only where they are named."""
    if type(table) is not Table:
        return ()
    own = {name.lower() for name in table.schema.names}
    tracks = parse_boolean(table.options.get(_TRACKS_ROWS, "false"), _TRACKS_ROWS)
    names = (*PLACE_COLUMNS, *(TRACKING_COLUMNS if tracks else ()))
    return tuple(name for name in names if name.lower() not in own)


def _scan(
    table: Table,
    columns: Sequence[str] | None,
    where: Expression | None,
    *,
    travel: Travel,
    options: Mapping[str, str],
) -> Scan:
    given = scan_options(options)
    if travel.version is not None:
        given = _with_version(given, travel.version)
    return table.scan(
        columns,
        where,
        snapshot_id=travel.snapshot_id,
        timestamp=travel.timestamp_ms,
        options=given,
    )


def _with_version(options: Mapping[str, str], version: str) -> dict[str, str]:
    if _VERSION in options:
        raise InvalidArgumentError(f"VERSION AS OF and {_VERSION!r} both say what to read")
    return {**options, _VERSION: version}


def database_name(catalog: str, database: str) -> str:
    """A database as Spark prints it."""
    return quoted((catalog, database))


def find_lake(spark: SparkSession) -> Lake | None:
    """The session with its attached catalogs, if there are any."""
    registry = find_registry(spark)
    if registry is None or not registry.catalogs:
        return None
    sql = type(spark).sql
    return Lake(spark, registry, partial(getattr(sql, "__wrapped__", sql), spark))
