"""Which catalogs are attached to which Spark session, and what is current there?

A session is known by a mark in its settings, because one session of the JVM may show itself as
several Python objects (`getActiveSession`, frames in `foreachBatch`). A new session has no mark and
so no catalogs.
"""

import itertools
import os
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pyspark.sql import SparkSession

from lakebed.catalog.catalog import Catalog
from lakebed.spark.cached_tables import CachedTables
from lakebed.spark.held_setting import HeldSetting
from lakebed.spark.known_frames import KnownFrames
from lakebed.spark.names import TableName

_MARK = "spark.lakebed.registry"
_PROBE_ROWS = 100_000
# A name of two parts that begins so is a file that Spark reads.
_FILE_FORMATS = frozenset({"avro", "binaryfile", "csv", "json", "orc", "parquet", "text", "xml"})

# What is about attached catalogs where no name of one is written: SHOW CATALOGS, CLEAR CACHE, and
# what may be given a table, or a statement about one, by a parameter or a variable.
_WORDS = (
    *("catalogs", "clear cache", "execute immediate"),
    *("identifier", "max_pt", "paimon_incremental_"),
)


def _few_cached() -> HeldSetting:
    return HeldSetting("spark.sql.optimizer.canChangeCachedPlanOutputPartitioning", "true")


def _micros() -> HeldSetting:
    return HeldSetting("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachedCatalog:
    """A catalog and what it was attached with.

    Attributes:
        catalog: The catalog.
        definition: Everything that was given, to tell the same again from another.
    """

    catalog: Catalog
    definition: Mapping[str, str]


@dataclass(slots=True, kw_only=True)
class Registry:
    """The attached catalogs of one session.

    Attributes:
        catalogs: By name.
        current_catalog: The attached catalog that is current; None while one of Spark's is.
        current_database: The current database of that catalog.
        visible_stores: Whether Spark's JVM reads files of a store, where that was tried.
        has_checked_workers: Whether Python workers are known to import Lakebed.
        micros: Has Spark's Parquet writer store instants as tables do.
        few_cached: Has Spark keep the few rows of a large shuffle in few partitions; it would keep
            as many as the shuffle has, and start a task for each whenever they are read.
        frames: The frames of scans that are kept; None where none are.
        cached: The tables whose rows are kept.
    """

    catalogs: dict[str, AttachedCatalog] = field(default_factory=dict)
    current_catalog: str | None = None
    current_database: str = "default"
    visible_stores: dict[str, bool] = field(default_factory=dict)
    has_checked_workers: bool = False
    micros: HeldSetting = field(default_factory=_micros)
    few_cached: HeldSetting = field(default_factory=_few_cached)
    frames: KnownFrames | None = None
    cached: CachedTables = field(default_factory=CachedTables)
    _parallelism: int | None = field(default=None, init=False)

    def catalog(self, name: str) -> Catalog:
        """The attached catalog of that name."""
        return self.catalogs[name].catalog

    def resolve_table(
        self, parts: tuple[str, ...], *, is_view: Callable[[str], bool]
    ) -> TableName | None:
        """The table of an attached catalog that a name means; None when it is Spark's.

        Args:
            parts: The parts of the name.
            is_view: Whether there is a temporary view of that name, which goes first.
        """
        if len(parts) == 3 and parts[0] in self.catalogs:
            return TableName(*parts)
        if self.current_catalog is None:
            return None
        if len(parts) == 2 and parts[0] not in self.catalogs:
            if parts[0] == "global_temp" or parts[0].lower() in _FILE_FORMATS:
                return None
            return TableName(self.current_catalog, *parts)
        if len(parts) == 1 and not is_view(parts[0]):
            return TableName(self.current_catalog, self.current_database, parts[0])
        return None

    def resolve_database(self, parts: tuple[str, ...]) -> tuple[str, str] | None:
        """Catalog and database that a name means; None when it is Spark's."""
        if len(parts) == 2 and parts[0] in self.catalogs:
            return parts[0], parts[1]
        if len(parts) == 1 and self.current_catalog is not None:
            return self.current_catalog, parts[0]
        return None

    def is_concerned(self, text: str) -> bool:
        """Whether a text can be about attached catalogs at all."""
        return (
            self.current_catalog is not None
            or any(name in text for name in self.catalogs)
            or any(word in text.lower() for word in _WORDS)
            # Spark has no COPY INTO, and what is copied may be a view.
            or text.lstrip()[:4].lower() == "copy"
        )

    def parallelism(self, spark: SparkSession) -> int:
        """How many tasks the cluster runs at once, as Spark splits a range by default."""
        if self._parallelism is None:
            parts = spark.range(_PROBE_ROWS).selectExpr("spark_partition_id() AS part")
            # A maximum needs no shuffle into as many partitions as Spark is set to.
            highest = parts.selectExpr("max(part)").collect()[0][0]
            self._parallelism = int(highest) + 1
        return self._parallelism


_registries: dict[str, Registry] = {}
_by_session: "weakref.WeakKeyDictionary[SparkSession, Registry]" = weakref.WeakKeyDictionary()
_marks = itertools.count(1)


def find_registry(spark: SparkSession) -> Registry | None:
    """The registry of a session, if any catalog was attached to it."""
    if not _registries:
        return None
    registry = _by_session.get(spark)
    if registry is None:
        registry = _registries.get(spark.conf.get(_MARK, None) or "")
        if registry is not None:
            _by_session[spark] = registry
    return registry


def make_registry(spark: SparkSession) -> Registry:
    """The registry of a session, made at the first call."""
    registry = find_registry(spark)
    if registry is None:
        registry = Registry(frames=KnownFrames(spark))
        # The process is part of it: a session of Spark Connect may outlive the client that made it.
        mark = f"{os.getpid()}-{next(_marks)}"
        spark.conf.set(_MARK, mark)
        _registries[mark] = registry
        _by_session[spark] = registry
    return registry


def drop_registry(spark: SparkSession) -> bool:
    """Forgets a session's catalogs; says whether any session still has some."""
    mark = spark.conf.get(_MARK, None)
    registry = _registries.pop(mark or "", None)
    if registry is not None:
        registry.cached.clear()
        spark.conf.unset(_MARK)
        for session in [each for each, found in _by_session.items() if found is registry]:
            del _by_session[session]
    return bool(_registries)
