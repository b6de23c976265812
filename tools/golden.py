"""Scores Lakebed against tables written, and read, by the real Apache Paimon.

    python -m tools.golden             every query, in process
    python -m tools.golden --spark 7   every query about half of the tables, through Spark

The corpus and its scorer stand beside the clone where a newer one is at hand, and in tests/golden
otherwise. Tables that the real engine did not read through Spark, for want of types, Lakebed does
not read there either; which half of the others is asked, the seed says. What is left out is named.
"""

import argparse
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

CORPORA = (ROOT.parent / "shared" / "golden", ROOT / "tests" / "golden")
ADAPTER = ROOT / "tests" / "golden_adapter.py"
SPARK_ADAPTER = ROOT / "tests" / "golden_spark_adapter.py"

SPARK_PARTS = 2


def find_corpus() -> Path:
    """The directory that holds check.py and the corpus A."""
    for corpus in CORPORA:
        if (corpus / "check.py").is_file() and (corpus / "A" / "expected").is_dir():
            return corpus
    sys.exit(f"golden: no check.py with a corpus A in any of {[str(path) for path in CORPORA]}")


def load_documents(corpus: Path, *, by_spark: bool) -> list[dict[str, Any]]:
    """What was asked of each table, in the order of their names.

    Args:
        corpus: As of `find_corpus`.
        by_spark: Whether only tables count that the real engine read through Spark.
    """
    paths = sorted((corpus / "A" / "expected").glob("*.json"))
    documents = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    return [each for each in documents if not by_spark or each["reader"] == "spark"]


def load_file(path: Path) -> ModuleType:
    """A file of Python, with its neighbours on the path as they are where it is run."""
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(f"golden_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError(str(path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def score_table(
    corpus: Path, document: dict[str, Any], *, adapter: ModuleType
) -> tuple[int, list[str]]:
    """Asks every query about a table.

    Returns:
        How many passed, and a line for each that did not.
    """
    check = load_file(corpus / "check.py")
    scores, failures = check.check_table(
        adapter, str(corpus / "A"), document, check.KINDS, verbose=False
    )
    passed = sum(good for good, _ in scores.values())
    return passed, [f"{table}: {query}: {problem}" for table, query, problem in failures]


def score(corpus: Path, documents: list[dict[str, Any]], *, adapter: ModuleType) -> bool:
    """Scores tables, printing a line for each; returns whether every query passed."""
    total, failed = 0, 0
    for document in documents:
        passed, failures = score_table(corpus, document, adapter=adapter)
        print(f"golden: {document['table']:28} {passed:4} passed, {len(failures)} failed")
        for failure in failures:
            print(f"    {failure}")
        sys.stdout.flush()
        total, failed = total + passed, failed + len(failures)
    print(f"golden: {total} queries passed, {failed} failed, {len(documents)} tables")
    return total > 0 and failed == 0


def main() -> None:
    """Scores, and ends with status 1 unless every query passed."""
    parser = argparse.ArgumentParser(prog="tools.golden")
    parser.add_argument("--spark", type=int, metavar="SEED")
    seed = parser.parse_args().spark
    corpus = find_corpus()
    documents = load_documents(corpus, by_spark=seed is not None)
    if seed is not None:
        asked = documents[seed % SPARK_PARTS :: SPARK_PARTS]
        left_out = ", ".join(each["table"] for each in documents if each not in asked)
        print(f"golden: left out, of {len(documents)} tables: {left_out}", flush=True)
        documents = asked
    adapter = load_file(ADAPTER if seed is None else SPARK_ADAPTER)
    sys.exit(not score(corpus, documents, adapter=adapter))


if __name__ == "__main__":
    main()
