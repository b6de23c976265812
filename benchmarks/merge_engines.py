"""How fast does each merge engine merge on read? 5 M rows in 2 buckets of 5 runs, 1.94 M keys.

The data files are the same for all: the options alone say how their rows become one.

The second of two reads in a row is what counts. While another contender has its turn a process
gives free memory back, and whoever is first afterwards would pay for all.
"""

import json
import re
import shutil
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from benchmarks.datasets import merge_table, merged_count
from benchmarks.harness import Contender, Effort, Outcome, Target, alternate
from tools.peers.process import PeerProcess

_TEXTS = {
    "fields.status.aggregate-function": "last_non_null_value",
    "fields.note.aggregate-function": "last_non_null_value",
}


def _aggregation(function: str) -> dict[str, str]:
    return {"merge-engine": "aggregation", "fields.default-aggregate-function": function}


ENGINES = {
    "deduplicate": {"merge-engine": "deduplicate"},
    "partial-update": {"merge-engine": "partial-update"},
    "partial-update, sequence group": {
        "merge-engine": "partial-update",
        "fields.customer.sequence-group": "quantity,price,discount,status,note",
    },
    "first-row": {"merge-engine": "first-row"},
    "aggregation, sum": _aggregation("sum") | _TEXTS,
    "aggregation, max": _aggregation("max") | _TEXTS,
    "aggregation, min": _aggregation("min") | _TEXTS,
    "aggregation, last_value": _aggregation("last_value"),
    "aggregation, max of texts, too": _aggregation("max"),
}
PEER_ROUNDS = 3
# The peer hides level 0 of such a table and compacts none of it.
NOT_OF_RUST = frozenset({"first-row"})
# Texts are seldom aggregated so, and comparing them is dear for everybody.
BESIDE_DEDUPLICATE = frozenset(ENGINES) - {"deduplicate", "aggregation, max of texts, too"}


def run(effort: Effort) -> list[Outcome]:
    """Every engine beside `deduplicate`, and each that the peer knows beside the peer."""
    rows = merged_count(run_rows=effort.run_rows)
    with ExitStack() as stack:
        lakebed = stack.enter_context(PeerProcess("lakebed"))
        rust = stack.enter_context(PeerProcess("pypaimon-rust")) if effort.peers else None
        merge = merge_table(lakebed, run_rows=effort.run_rows)
        tables = {name: _with_options(merge, name, given) for name, given in ENGINES.items()}

        def seconds(peer: PeerProcess, name: str) -> float:
            operation = "read_every_level" if peer is lakebed else "read"
            for _ in range(2):
                answer = peer.ask(operation, table=str(tables[name]))
                if answer["rows"] != rows:
                    raise AssertionError(f"{name}: {answer['rows']} rows, not {rows}")
            return answer["seconds"]

        outcomes = []
        for name in ENGINES:
            contenders = [Contender(name="lakebed", measure=partial(seconds, lakebed, name))]
            targets = []
            if name != "deduplicate":
                contenders.append(
                    Contender(
                        name="lakebed, deduplicate",
                        measure=partial(seconds, lakebed, "deduplicate"),
                    )
                )
                if name in BESIDE_DEDUPLICATE:
                    targets.append(Target(of="lakebed, deduplicate", at_most=2.0))
            if rust is not None and name not in NOT_OF_RUST:
                contenders.append(
                    Contender(
                        name="pypaimon-rust",
                        measure=partial(seconds, rust, name),
                        rounds=PEER_ROUNDS,
                    )
                )
                targets.append(Target(of="pypaimon-rust", at_most=1.0))
            figures = alternate(contenders, effort=effort)
            outcomes.append(Outcome(name=f"merge, {name}", figures=figures, targets=tuple(targets)))
    return outcomes


def _with_options(table: Path, name: str, options: dict[str, str]) -> Path:
    """The table again under other options, its files linked."""
    copy = table.with_name(f"{table.name}_{re.sub('[^a-z]+', '_', name)}")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(table, copy, copy_function=_link)
    path = copy / "schema" / "schema-0"
    schema = json.loads(path.read_text(encoding="utf-8"))
    schema["options"] |= options
    path.unlink()
    path.write_text(json.dumps(schema), encoding="utf-8")
    return copy


def _link(source: str, target: str) -> None:
    Path(target).hardlink_to(source)
