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
    "partitioned_table": [
        "[{'day': '2026-01-02', 'host': 'b', 'hits': 2}]",
        "day=2026-01-01",
        "day=2026-01-02",
        "day=2026-01-03",
    ],
    "time_travel": ["1 ['Ada', 'Grace']", "2 ['Ada', 'Grace Hopper']"],
    "frames": [
        "[{'city': 'Oslo', 'people': 700000}, {'city': 'Accra', 'people': 2500000}]",
        "['Accra', 'Lima']",
        "3 rows by batch",
    ],
}
PRINTED_BY_SPARK = [
    "[(1, 8.5, '2026-01-01'), (2, 4.0, '2026-01-02')]",
    "[(1, 9.5, '2026-01-01')]",
    "1",
]


@pytest.mark.parametrize("name", PRINTS)
def test_example_prints_what_it_promises(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    assert capsys.readouterr().out.splitlines() == PRINTS[name]


@pytest.mark.spark
def test_spark_example_prints_what_it_promises() -> None:
    command = [sys.executable, str(EXAMPLES / "spark_sql.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == PRINTED_BY_SPARK


def test_no_example_is_without_a_test() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == {*PRINTS, "spark_sql"} | RUN_BY_DEV
