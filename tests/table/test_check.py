"""A table that nobody damaged is clean, whatever it went through; what `check` takes and tells."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pytest

import lakebed
from lakebed.errors import InvalidArgumentError, NotFoundError, StorageError
from lakebed.storage.file_io import FileIO, FileStatus
from lakebed.table.checking.findings import FINDING_COLUMNS, Code, Finding, Severity
from lakebed.table.table import Table
from support.damaged_tables import Damager
from support.effects import open_catalog, reopen
from support.golden_manifests import DATABASE, golden_names
from support.needed_files import put_tag
from support.table_builder import HISTORIES, SHAPES, BuiltTable, Shape, Step, build_table

VECTORS = {"deletion-vectors.enabled": "true"}
OPTIONS: dict[str, dict[str, str]] = {
    "input changelog": {"changelog-producer": "input"},
    "lookup changelog": {"changelog-producer": "lookup"},
    "full changelog": {"changelog-producer": "full-compaction"},
    "deletion vectors": VECTORS,
    "64-bit vectors": VECTORS | {"deletion-vectors.bitmap64": "true"},
    "first row": {"merge-engine": "first-row"},
    "partial update": {"merge-engine": "partial-update"},
    "avro": {"file.format": "avro"},
    "orc": {"file.format": "orc"},
    "thin": {"data-file.thin-mode": "true"},
    "no statistics": {"metadata.stats-mode": "none"},
    "sparse statistics": {"metadata.stats-mode": "counts", "metadata.stats-dense-store": "false"},
    "write-only": {"write-only": "true"},
    "merged manifests": {"manifest.merge-min-count": "2"},
    "an index a file": {"file-index.bloom-filter.columns": "note"},
    "rolled files": {"target-file-row-num": "4"},
}
STEPS = HISTORIES["overlapping"]
KEYED = Shape(buckets=2)
APPEND = Shape(has_primary_key=False, buckets=-1, is_partitioned=True)


def assert_clean(table: Table) -> None:
    findings = table.check()
    assert not findings.found, findings


@pytest.mark.parametrize("name", golden_names())
def test_a_table_of_the_real_engine_is_clean(name: str) -> None:
    table = lakebed.load_table(str(DATABASE / name))
    # The writer of ORC files does not see NaN.
    expected = {Code.NAN_ABOVE_BOUND} if name == "append_types_orc" else set()
    findings = table.check()
    assert {each.what for each in findings} == expected, findings
    assert findings.is_clean


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("history", HISTORIES)
def test_a_table_of_any_shape_is_clean(shape: Shape, history: str) -> None:
    assert_clean(build_table(shape, HISTORIES[history]).table)


@pytest.mark.parametrize("options", OPTIONS)
def test_a_table_of_any_options_is_clean(options: str) -> None:
    built = build_table(KEYED.with_options(OPTIONS[options]), STEPS)
    assert_clean(built.table)
    built.table.compact("full")
    assert_clean(built.table)


def expire(built: BuiltTable) -> None:
    put_tag(built.table, "held", 2)
    built.table.expire_snapshots(retain_max=1, retain_min=1)


def branch(built: BuiltTable) -> None:
    put_tag(built.table, "held", 2)
    built.table.create_branch("dev", "held")
    dev = open_catalog(built.file_io, seed=5).load_table("db.t$branch_dev")
    dev.append(built.arrow([built.shape.row(40, 7)]))
    built.table.expire_snapshots(retain_max=1, retain_min=1)


def roll_back(built: BuiltTable) -> None:
    built.table.rollback(snapshot=2)
    built.take(Step("write", (50,)))


def go_on(built: BuiltTable) -> None:
    built.table.compact("full")
    built.take(Step("overwrite", range(5)))
    built.table.compact_manifest()
    built.table.truncate()


LIVES: dict[str, Callable[[BuiltTable], None]] = {
    "expired": expire,
    "branched": branch,
    "rolled back": roll_back,
    "compacted": go_on,
}


@pytest.mark.parametrize("shape", [KEYED, APPEND, KEYED.with_options(VECTORS)], ids=str)
@pytest.mark.parametrize("life", LIVES)
def test_a_table_that_lived_is_clean(shape: Shape, life: str) -> None:
    built = build_table(shape, STEPS)
    LIVES[life](built)
    assert_clean(built.table)


@pytest.mark.parametrize("buckets", [-1, -2])
def test_a_table_that_gives_its_own_buckets_is_clean(buckets: int) -> None:
    built = build_table(Shape(buckets=buckets, is_partitioned=True), STEPS)
    assert_clean(built.table)
    built.table.compact("full")
    assert_clean(built.table)


def test_changelogs_that_outlive_their_snapshots_are_looked_at() -> None:
    kept = {
        f"{what}.num-retained.{end}": count
        for what, count in (("snapshot", "1"), ("changelog", "9"))
        for end in ("min", "max")
    }
    shape = Shape(buckets=1).with_options(kept | {"changelog-producer": "input"})
    built = build_table(shape, HISTORIES["deleted"])
    assert len(built.table.snapshots()) == 1
    assert_clean(built.table)
    assert built.table.check().snapshots > 1
    directory = built.table.parts().paths.bucket("", 0)
    changelogs = [each for each in built.file_io.list(directory) if "changelog-" in each.name]
    built.file_io.delete(changelogs[0].path)
    assert [each.what for each in built.table.check("quick")] == [Code.MISSING_FILE]


def test_rows_with_ids_are_clean() -> None:
    shape = Shape(has_primary_key=False, buckets=-1)
    built = build_table(shape.with_options({"row-tracking.enabled": "true"}), STEPS)
    built.table.delete("id = 2")
    assert_clean(built.table)
    built.table.compact("full")
    assert_clean(built.table)


def test_files_of_older_schemas_are_read_as_they_were_written() -> None:
    findings = lakebed.load_table(str(DATABASE / "evolve_pk")).check()
    assert findings.rows > 0
    assert findings.is_clean


def test_two_writers_at_one_time_leave_a_note() -> None:
    built = build_table(Shape(buckets=1).with_options({"write-only": "true"}))
    with built.table.writer() as one, built.table.writer() as other:
        one.upsert(built.arrow([built.shape.row(number, 1) for number in (3, 4)]))
        other.upsert(built.arrow([built.shape.row(number, 2) for number in (3, 5)]))
    findings = built.table.check()
    assert findings.found[0].problem.startswith("1 rows ")
    assert [each.what for each in findings] == [Code.EQUAL_SEQUENCE]
    assert findings.is_clean


def test_little_memory_finds_the_same() -> None:
    options = {"lakebed.merge.memory": "1 b"}
    built = build_table(KEYED.with_options(VECTORS), STEPS, session=options)
    assert_clean(built.table)
    wide = build_table(Shape(buckets=1), [Step("write", range(3000))], session=options)
    Damager(wide.table).rewrite_rows(
        lambda rows: rows.take([*range(2047), 2048, 2047, *range(2049, 3000)])
    )
    findings = wide.table.check()
    assert [each.what for each in findings] == [Code.UNSORTED_KEYS]
    assert "1 of its 3000 rows" in findings.found[0].problem


def test_a_named_snapshot_or_tag_is_looked_at_alone() -> None:
    built = build_table(KEYED, STEPS)
    put_tag(built.table, "t", 1)
    damager = Damager(built.table)
    damager.file_io.delete(damager.data_path(damager.entries()[0]))
    assert not built.table.check().is_clean
    assert not built.table.check(snapshot_id=3).is_clean
    assert built.table.check(snapshot_id=2).is_clean
    assert built.table.check(tag="t").snapshots == 1
    assert built.table.check(tag="t").is_clean


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"depth": "deep"}, InvalidArgumentError, "depth is 'deep'; it is one of quick, full"),
        ({"snapshot_id": 1, "tag": "t"}, InvalidArgumentError, "leave one of them out"),
        ({"snapshot_id": 9}, NotFoundError, "snapshot '9' does not exist"),
        ({"tag": "t"}, NotFoundError, "tag 't' does not exist"),
    ],
)
def test_what_cannot_be_checked_is_refused(
    arguments: dict[str, object], error: type[Exception], words: str
) -> None:
    table = build_table(KEYED, STEPS).table
    with pytest.raises(error, match=words):
        table.check(**arguments)  # type: ignore[arg-type]


def test_findings_are_printed_and_told_as_a_table() -> None:
    built = build_table(Shape(buckets=1), STEPS[:1])
    damager = Damager(built.table)
    path = damager.data_path(damager.entries()[0])
    damager.file_io.delete(path)
    damager.put(built.table.parts().paths.latest_hint, b"7")
    findings = built.table.check()
    head, *lines = str(findings).splitlines()
    assert head.endswith(": 1 errors, 1 notes; 1 snapshots, 1 files, 0 rows checked")
    assert lines[0].startswith(f"  error missing-file {path}: it is not there")
    assert "remove_unexisting_files" in lines[0]
    assert lines[1].startswith("  note stale-hint")
    told = findings.to_arrow()
    assert told.schema == FINDING_COLUMNS
    assert told["severity"].to_pylist() == [Severity.ERROR, Severity.NOTE]
    assert [each.what for each in findings.errors] == [Code.MISSING_FILE]
    assert [each.what for each in findings.notes] == [Code.STALE_HINT]


@dataclass(slots=True)
class Interrupting:
    """A store that does something at the first look into a directory."""

    inner: FileIO
    ending: str
    act: Callable[[], None]
    done: list[str] = field(default_factory=list)

    def __getattr__(self, name: str) -> object:
        return getattr(self.inner, name)

    def list(self, path: str) -> list[FileStatus]:
        if path.endswith(self.ending) and not self.done:
            self.done.append(path)
            self.act()
        return self.inner.list(path)


def test_what_expires_meanwhile_is_no_damage() -> None:
    built = build_table(KEYED, HISTORIES["overwritten"])

    def expire_all() -> None:
        assert built.table.expire_snapshots(retain_max=1, retain_min=1)

    store = Interrupting(built.file_io, "bucket-0", expire_all)
    findings = reopen(built.table, store).check("quick")  # type: ignore[arg-type]
    assert store.done
    assert not findings.found
    assert findings.snapshots == 1


def test_a_store_that_fails_is_a_finding() -> None:
    built = build_table(KEYED, STEPS)

    def fail() -> None:
        raise StorageError("memory:/lake", "no answer")

    store = Interrupting(built.file_io, "bucket-0", fail)
    findings = reopen(built.table, store).check("quick")  # type: ignore[arg-type]
    assert [each.what for each in findings] == [Code.STORAGE_FAILED]


def test_a_table_on_disk_is_checked_by_threads(tmp_path: Path) -> None:
    catalog = lakebed.load_catalog({"lakebed.read.threads": "4"}, warehouse=str(tmp_path))
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t",
        schema=lakebed.schema([("id", "INT NOT NULL")]),
        primary_key=["id"],
        options={"bucket": "4"},
    )
    for number in range(3):
        table.append(pa.table({"id": pa.array(range(number, 40), "int32")}))
    findings = table.check()
    assert not findings.found
    assert findings.rows == 40 + 39 + 38
    assert table.check("quick").rows == 0


def test_the_documentation_tells_of_every_code() -> None:
    told = (Path(__file__).parents[2] / "docs" / "check.md").read_text(encoding="utf-8")
    for code in Code:
        finding = Finding(code, "", "")
        assert f"| `{code}` | {finding.severity} |" in told
        assert f"| {finding.repair} |" in told
