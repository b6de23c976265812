"""Which tables tell their changes, and when; and which are not made, because they never would."""

from itertools import product
from pathlib import Path

import pyarrow as pa
import pytest

from datadriven.script import check_script
from lakebed.errors import InvalidTableError
from lakebed.format.schema_definition import schema
from lakebed.format.snapshot import CommitKind
from lakebed.options.choices import ChangelogProducer, MergeEngine
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.table import Table
from lsm.compaction.drawn_buckets import told_options
from support.effects import open_catalog

_COLUMNS = [("id", "BIGINT NOT NULL"), ("p", "STRING NOT NULL"), ("v", "BIGINT")]
_KEYS = {"fixed": ["id", "p"], "moving": ["id"], "none": []}


def made(options: dict[str, str], *, key: str) -> Table:
    catalog = open_catalog(MemoryFileIO())
    catalog.create_database("db")
    return catalog.create_table(
        "db.t",
        schema=schema(_COLUMNS),
        primary_key=_KEYS[key],
        partition_by=["p"],
        options=options,
    )


def rows(version: int) -> pa.Table:
    return pa.table({"id": [1, 2], "p": ["x", "x"], "v": [version, version]})


def told(table: Table) -> list[str]:
    """Who tells the changes of rows that come twice, and are compacted as a whole after each."""
    for version in range(2):
        table.append(rows(version))
        table.compact()
    names = {CommitKind.COMPACT: "compactions tell", CommitKind.APPEND: "writes tell"}
    tellers = {
        names[snapshot.commit_kind]
        for snapshot in table.snapshots()
        if snapshot.changelog_manifest_list is not None
    }
    return sorted(tellers) or ["nobody tells"]


def table_of(lines: tuple[str, ...]) -> list[str]:
    options = told_options(lines)
    key = options.pop("key", "fixed")
    try:
        return told(made(options, key=key))
    except InvalidTableError as error:
        return str(error).split("\n")


def test_tables_tell_or_are_not_made(request: pytest.FixtureRequest) -> None:
    is_rewritten = bool(request.config.getoption("--rewrite"))
    path = Path(__file__).with_name("changelog_definition.txt")
    check_script(path, {"table": table_of}, rewrite=is_rewritten)


@pytest.mark.parametrize("engine", MergeEngine)
@pytest.mark.parametrize(
    "producer", [each for each in ChangelogProducer if each is not ChangelogProducer.NONE]
)
def test_no_table_that_is_made_is_silent_about_changes(
    producer: ChangelogProducer, engine: MergeEngine
) -> None:
    made_count = 0
    places = [("1", "fixed"), ("-1", "fixed"), ("-1", "moving"), ("-2", "fixed")]
    for number, ((bucket, key), with_vectors) in enumerate(product(places, ["false", "true"])):
        delta_commits = (None, "1", "3")[number % 3]
        options = {
            "changelog-producer": producer.value,
            "merge-engine": engine.value,
            "bucket": bucket,
            "deletion-vectors.enabled": with_vectors,
            "changelog-producer.row-deduplicate": ("false", "true")[number // 2 % 2],
            "write-only": ("false", "true")[number // 4 % 2],
        }
        if delta_commits is not None:
            options["full-compaction.delta-commits"] = delta_commits
        try:
            table = made(options, key=key)
        except InvalidTableError:
            continue
        made_count += 1
        assert told(table) != ["nobody tells"], options
    is_refused = engine is MergeEngine.FIRST_ROW and producer is not ChangelogProducer.LOOKUP
    assert (made_count == 0) == is_refused
