"""Scores Lakebed against tables written, and read, by the real Apache Paimon.

The corpus and its scorer stand beside the clone where a newer one is at hand, and in tests/golden
otherwise. What Lakebed does not do yet is not asked, and the first lines say so.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

CORPORA = (ROOT.parent / "shared" / "golden", ROOT / "tests" / "golden")
ADAPTER = ROOT / "tests" / "golden_adapter.py"

KINDS = ("latest", "snapshot", "filter", "columns")
TABLES = (
    "append_bucketed",
    "append_index",
    "append_many_commits",
    "append_nested",
    "append_partitioned",
    "append_rolling",
    "append_stats_modes",
    "append_types_parquet",
    "partition_names",
    "pk_composite_partitioned",
    "pk_date_timestamp_key",
    "pk_decimal_key",
    "pk_history",
    "pk_string_buckets",
)


def find_corpus() -> Path:
    """The directory that holds check.py and the corpus A."""
    for corpus in CORPORA:
        if (corpus / "check.py").is_file() and (corpus / "A" / "expected").is_dir():
            return corpus
    sys.exit(f"golden: no check.py with a corpus A in any of {[str(path) for path in CORPORA]}")


def score(corpus: Path) -> tuple[int, int]:
    """Runs the scorer, which prints a line a table; returns how many queries passed and failed."""
    with tempfile.TemporaryDirectory() as directory:
        report = Path(directory) / "score.json"
        command = [
            *(sys.executable, "check.py", str(ADAPTER), str(corpus / "A"), "-v"),
            *("--kinds", ",".join(KINDS), "--tables", ",".join(TABLES), "--json", str(report)),
        ]
        subprocess.run(command, cwd=corpus, check=True)
        totals = json.loads(report.read_text(encoding="utf-8"))["totals"]
    return sum(good for good, _ in totals.values()), sum(bad for _, bad in totals.values())


def main() -> None:
    """Scores, and ends with status 1 unless every query passed."""
    corpus = find_corpus()
    there = {path.stem for path in (corpus / "A" / "expected").glob("*.json")}
    missing = sorted(set(TABLES) - there)
    if missing:
        sys.exit(f"golden: {corpus} lacks {missing}")
    print(f"golden: left out {len(there) - len(TABLES)} tables of {len(there)}, and every kind of")
    print(f"golden: query but {', '.join(KINDS)}", flush=True)
    passed, failed = score(corpus)
    sys.exit(failed > 0 or passed == 0)


if __name__ == "__main__":
    main()
