"""Every example runs and prints what its reader is told to expect."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
RUN_BY_DEV = {"quickstart"}
PRINTS = {
    "append_table": ["[{'item': 'pot', 'price': 21.0}]", "all rows: 3"],
    "primary_key_table": [
        "{'id': 1, 'state': 'new', 'total': 10}",
        "{'id': 2, 'state': 'paid', 'total': 20}",
        "{'id': 4, 'state': 'new', 'total': 40}",
    ],
    "alter_table": [
        "1 None 20.00 {'street': 'Elm', 'city': None}",
        "2 new 7.50 {'street': None, 'city': 'Ulm'}",
        "as it was: 1 20 {'street': 'Elm', 'zip': 12345}",
    ],
    "branches": [
        "on the branch: ['pan 10', 'pot 5'] in the table: ['pan 20', 'pot 10']",
        "taken over: ['pan 10', 'pot 5']",
        "by mistake: ['pan 10']",
        "rolled back to snapshot 1 ['pan 20', 'pot 10']",
    ],
    "merged_branch": [
        "in the table: ['help', 'home'] on the branch: ['home', 'shop']",
        "merged: ['help', 'home', 'shop']",
        "merged again: None",
        "replaced: [] and before: 3",
    ],
    "partitioned_table": [
        "[{'day': '2026-01-02', 'host': 'b', 'hits': 2}]",
        "day=2026-01-01",
        "day=2026-01-02",
        "day=2026-01-03",
    ],
    "time_travel": [
        "1 ['Ada', 'Grace']",
        "2 ['Ada', 'Grace Hopper']",
        "then: [{'id': 2, 'name': 'Grace'}]",
        "then: [{'id': 2, 'name': 'Grace'}]",
    ],
    "increments": [
        "rows of commits 2 to 4 ['1 new', '2 paid', '3 new', '3 paid']",
        "what 4 has and 1 lacks ['2 paid', '3 paid']",
        "rows with their kinds ['-D 1 new', '+I 2 paid', '+I 3 new', '+I 3 paid']",
    ],
    "compaction": [
        "3 files to level 5: a full compaction was asked for",
        "files [{'level': 5, 'record_count': 2}]",
        "-D 1 new",
        "-U 2 new",
        "+U 2 paid",
        "+I 3 new",
    ],
    "update_and_delete": [
        "[{'user': 'ada', 'hits': 1}, {'user': 'bob', 'hits': 20}]",
        "rows of files [1, 3]",
        "refused: column 'state' of the row {'id': 1} would be 'paid' after this update",
    ],
    "partition_expiry": [
        "days that went: 2 True",
        "rows left: 2",
        "refused: partition dt=today names no time",
        "done: ['creationTime', 'modificationTime']",
    ],
    "orphan_files": [
        "too young to tell: 0",
        "orphans: ['data-6a09e667-bb67-4e85-8ae5-3c6ef372fe72-0.parquet']",
        "deleted: 1 True",
        "rows: 20",
        "lost files: 1",
        "rows left: 10",
    ],
    "check": [
        "clean: True 2 files, 200 rows",
        (
            "file-size to repair: restore the file from a backup; or delete it, and then "
            "remove_unexisting_files"
        ),
        (
            "missing-file to repair: restore the file from a backup, or take it out of the table "
            "(remove_unexisting_files)"
        ),
    ],
    "upkeep": [
        "files read before: 16 4",
        "files read after: 4 4",
        "by the bloom filter: 1",
        "every file has its index: True",
        "manifests before: 5",
        "manifests after: 1",
        "snapshots expired: 5",
        "rows: 1600",
    ],
    "merge_engines": [
        "pu_sequence_groups is merged by partial-update",
        "   g1 [a,b]",
        "   g2 [total,note]",
        "   total [sum]",
        "   note [last_non_null_value]",
        "   1 3 3 None 2 130 n1 o1",
        "   2 5 5 b5 3 10 y o2",
        "   3 None None None None None None only other",
        "agg_retract is merged by aggregation",
        "   s [sum]",
        "   p [product]",
        "   lv [last_value]",
        "   mx [true, max]",
        "   dec [sum]",
        "   1 11 16.0 c 50 1.500",
        "   2 16 2.0 None 6 1.000",
        "first_row is merged by first-row",
        "   1 a",
        "   2 b",
        "   3 c",
        "pk_sequence_field is merged by deduplicate",
        "   0 100 first",
        "   1 100 first",
        "   2 100 first",
    ],
    "schema_evolution": [
        "snapshot 1, schema 0: id int32, a int32, b string",
        "snapshot 2, schema 1: id int32, c decimal128(8, 2), a int32, b string",
        "snapshot 3, schema 3: id int32, c decimal128(8, 2), aa string, b string",
        "snapshot 4, schema 4: id int32, c decimal128(12, 4), aa string, b string",
        "snapshot 5, schema 4: id int32, c decimal128(12, 4), aa string, b string",
        "snapshot 6, schema 4: id int32, c decimal128(12, 4), aa string, b string",
        "snapshot 7, schema 5: id int32, c decimal128(12, 4), aa string",
        "then:",
        "   {'id': 0, 'a': 0, 'b': 'b0'}",
        "   {'id': 1, 'a': 1, 'b': 'b1'}",
        "   {'id': 2, 'a': 2, 'b': 'b2'}",
        "now:",
        "   {'id': 0, 'c': None, 'aa': '0'}",
        "   {'id': 1, 'c': Decimal('1.2500'), 'aa': '11'}",
        "   {'id': 2, 'c': None, 'aa': 'two'}",
    ],
    "tags_and_branches": [
        "now: 5 rows",
        "as of tag first: 2 rows",
        "as of tag renamed: 2 rows",
        "on branch dev: 3 rows",
        "   its snapshots: [1, 2]",
        "on branch other: 4 rows",
        "   its snapshots: [2, 3, 4]",
    ],
    "tags": [
        "snapshots expired: 2",
        "draft: ['new'] audit: ['paid']",
        "first: ['new'] audit: ['sent']",
        "expired tags: ['audit']",
        "tags: 0",
        "now: [{'id': 1, 'state': 'sent'}]",
    ],
    "system_tables": [
        "logs.hits$snapshots (1, 'APPEND', 3) (2, 'APPEND', 2)",
        "logs.hits$partitions ('day=2026-01-01', 3, 1) ('day=2026-01-02', 2, 1)",
        (
            "logs.hits$files ('{2026-01-01}', 0, '{day=2026-01-01, hits=3, host=host2}')"
            " ('{2026-01-02}', 0, '{day=2026-01-02, hits=50, host=host1}')"
        ),
        "logs.hits$manifests (1, '{2026-01-01}') (1, '{2026-01-02}')",
        "sys.tables ('hits', True, False)",
        "files of snapshot 1: 1",
        "files with many rows: 1",
    ],
    "pruning": [
        "id < 500: 200 rows",
        "snapshot 2",
        "manifests    kept 2 of 2",
        "partitions   kept 2 of 2",
        "buckets      kept 2 of 2",
        "live         kept 2 of 2",
        "values       kept 1 of 2",
        "indexes      kept 1 of 1",
        "reads 1 files, 2797 bytes in 1 splits, 0 with a merge",
        "color = 'purple': 0 rows",
        "snapshot 2",
        "manifests    kept 2 of 2",
        "partitions   kept 2 of 2",
        "buckets      kept 2 of 2",
        "live         kept 2 of 2",
        "values       kept 1 of 2",
        "indexes      kept 0 of 1",
        "reads 0 files, 0 bytes in 0 splits, 0 with a merge",
        "id: 0 to 1099, from metadata",
    ],
    "writing": [
        "sales [('pan', 'mon', 1), ('pot', 'mon', 5), ('pot', 'tue', 1)]",
        "sales without monday [('pot', 'tue', 1)]",
        "orders [(1, 'new', 30), (2, 'new', None)]",
        "rows that came: 3",
        "files: [(0, 'orc'), (1, 'orc')]",
        "found: [{'id': 7, 'page': 'page 7'}]",
    ],
    "streams": [
        "mailer: ['+I 1 new', '+I 2 new']",
        "mailer again: ['-U 1 new', '+U 1 paid', '+I 3 new', '-D 2 new']",
        "all there is now: ['+I 1 paid', '+I 3 new']",
        "commits of the import: 1",
    ],
    "frames": [
        "[{'city': 'Oslo', 'people': 700000}, {'city': 'Accra', 'people': 2500000}]",
        "['Accra', 'Lima']",
        "3 rows by batch",
    ],
}
PRINTED_BY_SPARK = {
    "structured_streaming": [
        "mirror: ['1 paid', '3 new']",
        "changes: ['+I 3', '+U 1', '-D 1', '-U 1']",
    ],
    "spark_sql": [
        "[(1, 8.5, '2026-01-01'), (2, 4.0, '2026-01-02')]",
        "[(1, 9.5, '2026-01-01')]",
        "[(1, 'APPEND'), (2, 'APPEND')]",
        "[(1, 8.5, '2026-01-01')]",
        "1",
        "[(2, 4.4, '2026-01-02')]",
        "[(2, 4.4, 4.0)]",
        "1",
    ],
    "queries": [
        "what came [('home', 5, '2026-01-02')]",
        "newest day [('help', 1), ('home', 5)]",
        "places [('home', '2026-01-01', 0)]",
        "as of the session [('help', 1), ('home', 3)]",
        "partitions   kept 2 of 3",
        "kept in memory [(9,)]",
        "kept, and never old [(11,)]",
    ],
    "copy_into": [
        "[('monday.csv', 'LOADED', 2)]",
        "tuesday.csv PARTIALLY_LOADED 1 column 'total' takes DOUBLE, not much",
        "monday.csv SKIPPED 0 None",
        "2 rows written",
        """['{"id":1,"state":"new"}', '{"id":3,"state":"new"}']""",
    ],
}


@pytest.mark.parametrize("name", PRINTS)
def test_example_prints_what_it_promises(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", [f"{name}.py"])
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    assert capsys.readouterr().out.splitlines() == PRINTS[name]


def test_example_reads_the_table_that_it_is_given(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(__file__).parent / "golden" / "warehouse" / "db.db" / "pk_history"
    monkeypatch.setattr(sys, "argv", ["pruning.py", str(path), "id = 3"])
    runpy.run_path(str(EXAMPLES / "pruning.py"), run_name="__main__")
    assert "keys         kept 4 of 7" in capsys.readouterr().out.splitlines()


@pytest.mark.variants
@pytest.mark.parametrize("name", PRINTED_BY_SPARK)
def test_spark_example_prints_what_it_promises(name: str) -> None:
    command = [sys.executable, str(EXAMPLES / f"{name}.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == PRINTED_BY_SPARK[name]


def test_no_example_is_without_a_test() -> None:
    tested = {*PRINTS, *PRINTED_BY_SPARK, *RUN_BY_DEV}
    assert {path.stem for path in EXAMPLES.glob("*.py")} == tested
