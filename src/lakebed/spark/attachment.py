"""How does a Spark session come to know a Lakebed catalog, and forget it?"""

from collections.abc import Mapping

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from lakebed.catalog.loading import load_catalog
from lakebed.errors import InvalidArgumentError
from lakebed.options.values import OptionValue, format_value
from lakebed.spark import patches
from lakebed.spark.conditions import spark_errors
from lakebed.spark.registry import AttachedCatalog, drop_registry, make_registry
from lakebed.spark.session_functions import drop_functions
from lakebed.spark.source import PaimonDataSource

_SPARK_CATALOG = "spark_catalog"
_SETTINGS = "spark.lakebed.catalog."


def attach(
    spark: SparkSession,
    name: str | None = None,
    options: Mapping[str, OptionValue] | None = None,
    *,
    warehouse: str | None = None,
    metastore: str | None = None,
) -> SparkSession:
    """Makes a catalog's tables known to a session as `name.database.table`.

    Options may also come from the session's settings `spark.lakebed.catalog.<name>.<option>`, so
    that whoever sets up a cluster can name its catalogs; what is given here goes first.

    Args:
        spark: A session, classic or of Spark Connect.
        name: How the catalog is called in this session; without it, every catalog that the settings
            name is attached.
        options: Options of the catalog, as for `lakebed.load_catalog`.
        warehouse: Where databases lie.
        metastore: The kind of the catalog, `filesystem` by default.

    Returns:
        The same session.

    Raises:
        InvalidArgumentError: The name is taken, by Spark or with other options; no name is given,
            and the settings name no catalog.
    """
    given = {key: format_value(value) for key, value in (options or {}).items()}
    for key, text in (("warehouse", warehouse), ("metastore", metastore)):
        if text is not None and given.setdefault(key, text) != text:
            raise InvalidArgumentError(f"{key} is given twice: {given[key]!r} and {text!r}")
    settings = _configured(spark)
    if name is not None:
        _attach(spark, name, {**settings.get(name, {}), **given})
        return spark
    if given or not settings:
        raise InvalidArgumentError(
            "attach needs the name of a catalog: without one it attaches those of the settings"
            f" {_SETTINGS}<name>.<option>, which "
            + ("have their options there" if settings else "there are none of")
        )
    for each, definition in settings.items():
        _attach(spark, each, definition)
    return spark


def _configured(spark: SparkSession) -> dict[str, dict[str, str]]:
    """The options of catalogs in the session's settings, by the catalogs' names."""
    found: dict[str, dict[str, str]] = {}
    for setting, text in sorted(spark.conf.getAll.items()):
        name, dot, key = setting.removeprefix(_SETTINGS).partition(".")
        if setting.startswith(_SETTINGS) and dot:
            found.setdefault(name, {})[key] = text
    return found


def _attach(spark: SparkSession, name: str, definition: Mapping[str, str]) -> None:
    if not name or name == _SPARK_CATALOG or any(sign in name for sign in "`. "):
        raise InvalidArgumentError(
            f"{name!r} cannot name an attached catalog; choose a name of letters, digits and _"
            f" other than {_SPARK_CATALOG}"
        )
    if spark.conf.get(f"spark.sql.catalog.{name}", None) is not None:
        raise InvalidArgumentError(
            f"the session has a catalog {name!r} of its own (spark.sql.catalog.{name}); choose"
            " another name, or start the session without it"
        )
    with spark_errors():
        catalog = load_catalog(definition)
    registry = make_registry(spark)
    known = registry.catalogs.get(name)
    if known is not None and known.definition != definition:
        raise InvalidArgumentError(
            f"the catalog {name!r} is attached with other options already; detach the session"
            " first or choose another name"
        )
    if not registry.catalogs:
        register(spark)
    registry.catalogs[name] = AttachedCatalog(catalog=catalog, definition=definition)
    patches.install(spark)


def detach(spark: SparkSession) -> None:
    """Makes a session forget every attached catalog, and what they needed of it.

    The format `paimon` stays known, as Spark cannot forget one.
    """
    if not drop_registry(spark):
        patches.uninstall()
    drop_functions(spark)


def register(spark: SparkSession) -> None:
    """Makes `format("paimon")` known to a session, without any catalog.

    Reads every table; writes append tables without buckets, by `append` and by a full `overwrite`.

    Raises:
        InvalidArgumentError: Paimon's own connector has that name in this session.
    """
    # Classic Spark looks for formats of that name in the active session, not in this one; making a
    # frame makes this one active.
    spark.createDataFrame([], StructType([]))
    try:
        spark.dataSource.register(PaimonDataSource)
    except PySparkException as error:
        raise InvalidArgumentError(
            f'the session knows a format "paimon" already: {error}. Start it without the connector'
            " of Paimon"
        ) from error
