"""Everything that works on classic Spark works over Spark Connect.

The same tests run again in a process of their own, because PySpark holds one kind of session a
process.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools.provenance import read_commit, seed_of

HERE = Path(__file__).resolve().parent
SUITES = (
    "test_statements",
    "test_inspecting",
    "test_merge",
    "test_cached_tables",
    "test_identifiers",
    "test_immediate",
    "test_copy_into",
    "test_copy_into_files",
    "test_create_like",
    "test_tag_statements",
    "test_queries",
    "test_increments",
    "test_hidden_columns",
    "test_max_partition",
    "test_session_options",
    "test_frames",
    "test_frame_merge",
    "test_replace_where",
    "test_tracked_changes",
    "test_attachment",
    "test_bucketing",
    "test_source",
    "test_golden_spark",
    "test_marked_files",
)
"""Of which a sample runs each other one, from the first or the second on, as the commit says."""

pytestmark = [
    pytest.mark.variants,
    pytest.mark.skipif(
        os.environ.get("LAKEBED_SPARK_KIND") == "connect", reason="this is that process"
    ),
]


def test_the_suites_pass_over_spark_connect(request: pytest.FixtureRequest) -> None:
    is_sample = request.config.getoption("--sample")
    chosen = SUITES[seed_of(read_commit()) % 2 :: 2] if is_sample else SUITES
    command = [sys.executable, "-m", "pytest", "-q", *(str(HERE / f"{each}.py") for each in chosen)]
    if is_sample:
        command.append("--sample")
    run = subprocess.run(
        command,
        env={**os.environ, "LAKEBED_SPARK_KIND": "connect"},
        cwd=HERE.parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-10_000:]
