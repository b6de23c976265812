"""Catalogs come to sessions and go again."""

from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from lakebed.errors import InvalidArgumentError
from lakebed.format.types import AtomicType, DataField, TypeRoot
from lakebed.spark import attach, detach
from lakebed.spark.bucketing import bucket_column
from lakebed.spark.session_functions import made_functions

pytestmark = pytest.mark.spark


def test_attach_returns_the_session_and_may_be_repeated(bare: SparkSession, tmp_path: Path) -> None:
    assert attach(bare, "first", warehouse=tmp_path.as_uri()) is bare
    try:
        assert attach(bare, "first", warehouse=tmp_path.as_uri()) is bare
        attach(bare, "second", {"lakebed.merge.memory": "64 mb"}, warehouse=tmp_path.as_uri())
        with pytest.raises(InvalidArgumentError, match="other options"):
            attach(bare, "first", warehouse=(tmp_path / "other").as_uri())
        names = [catalog.name for catalog in bare.catalog.listCatalogs()]
        assert {"first", "second", "spark_catalog"} <= set(names)
        bare.sql("CREATE DATABASE first.db")
        assert [row[0] for row in bare.sql("SHOW DATABASES IN second").collect()] == ["db"]
    finally:
        detach(bare)


@pytest.mark.parametrize("name", ["spark_catalog", "", "a.b", "a b"])
def test_names_that_cannot_be_are_refused(bare: SparkSession, tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidArgumentError, match="cannot name"):
        attach(bare, name, warehouse=tmp_path.as_uri())


def test_a_catalog_that_spark_has_is_left_alone(bare: SparkSession, tmp_path: Path) -> None:
    bare.conf.set("spark.sql.catalog.theirs", "org.example.Catalog")
    try:
        with pytest.raises(InvalidArgumentError, match=r"spark\.sql\.catalog\.theirs"):
            attach(bare, "theirs", warehouse=tmp_path.as_uri())
    finally:
        bare.conf.unset("spark.sql.catalog.theirs")


def test_a_wrong_option_is_an_error_of_spark(bare: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(AnalysisException) as caught:
        attach(bare, "wrong", {"no.such.option": 1}, warehouse=tmp_path.as_uri())
    assert isinstance(caught.value.__cause__, InvalidArgumentError)
    with pytest.raises(AnalysisException):
        bare.sql("SHOW DATABASES IN wrong").collect()


def test_a_new_session_has_no_catalogs(bare: SparkSession, tmp_path: Path) -> None:
    attach(bare, "here", warehouse=tmp_path.as_uri())
    try:
        bare.sql("CREATE DATABASE here.db")
        bare.sql("CREATE TABLE here.db.known AS SELECT 1 AS id")
        assert bare.table("here.db.known").count() == 1
        with pytest.raises(AnalysisException):
            bare.newSession().sql("SELECT * FROM here.db.known").collect()
    finally:
        detach(bare)


def test_detach_gives_the_methods_of_spark_back(bare: SparkSession, tmp_path: Path) -> None:
    before = type(bare).sql
    attach(bare, "gone", warehouse=tmp_path.as_uri())
    detach(bare)
    assert type(bare).sql is before
    with pytest.raises(AnalysisException):
        bare.sql("SELECT * FROM gone.db.t").collect()
    detach(bare)


def test_catalogs_of_the_settings_are_attached_by_name_or_all(
    bare: SparkSession, tmp_path: Path
) -> None:
    prefix = "spark.lakebed.catalog."
    settings = {
        f"{prefix}one.warehouse": (tmp_path / "one").as_uri(),
        f"{prefix}one.lakebed.merge.memory": "64 mb",
        f"{prefix}two.warehouse": (tmp_path / "two").as_uri(),
    }
    with pytest.raises(InvalidArgumentError, match="there are none of"):
        attach(bare)
    for key, text in settings.items():
        bare.conf.set(key, text)
    try:
        assert attach(bare, "one") is bare
        bare.sql("CREATE DATABASE one.db")
        assert (tmp_path / "one" / "db.db").is_dir()
        assert "two" not in {each.name for each in bare.catalog.listCatalogs()}
        attach(bare)
        assert {"one", "two"} <= {each.name for each in bare.catalog.listCatalogs()}
        with pytest.raises(InvalidArgumentError, match="other options"):
            attach(bare, "one", {"lakebed.merge.memory": "32 mb"})
        with pytest.raises(InvalidArgumentError, match="needs the name"):
            attach(bare, warehouse=tmp_path.as_uri())
        detach(bare)
        attach(bare, "one", warehouse=(tmp_path / "two").as_uri())
        assert bare.sql("SHOW DATABASES IN one").collect() == []
        bare.conf.set(f"{prefix}three.no.such.option", "1")
        with pytest.raises(AnalysisException, match=r"no\.such\.option"):
            attach(bare, "three", warehouse=tmp_path.as_uri())
    finally:
        detach(bare)
        for key in (*settings, f"{prefix}three.no.such.option"):
            bare.conf.unset(key)


def test_detach_leaves_the_session_as_it_was(bare: SparkSession, tmp_path: Path) -> None:
    settings = dict(bare.conf.getAll)
    current = bare.catalog.currentCatalog(), bare.catalog.currentDatabase()
    attach(bare, "left", warehouse=tmp_path.as_uri())
    bare.sql("CREATE DATABASE left.db")
    bare.sql("USE left.db")
    key = DataField(id=0, name="id", type=AtomicType(root=TypeRoot.BIGINT))
    bucket_column(bare, [key], total_buckets=2, function="default")
    (function,) = made_functions(bare)
    detach(bare)
    assert not bare.catalog.functionExists(function)
    assert bare.conf.getAll == settings
    assert (bare.catalog.currentCatalog(), bare.catalog.currentDatabase()) == current
