"""Do entries say the truth of their files? It is compared in columns, for many files at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lakebed.errors import LakebedError
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import ArrowArray, joined
from lakebed.format.manifest import ENTRY_COLUMNS
from lakebed.format.paths import POSTPONE_BUCKET
from lakebed.format.schema import TableSchema
from lakebed.format.statistics.stored import ColumnBounds, StatsColumns, bounds_from_stats
from lakebed.format.types import DataField
from lakebed.table.checking.claimed_files import ClaimedFiles, Numbers
from lakebed.table.checking.findings import Code, Report
from lakebed.table.checking.known_bounds import contradicts, known_true, leaves_out_nan
from lakebed.table.checking.reading import FileTruth
from lakebed.table.planning.split_files import positions

_TRUTH_NAMES = (
    "row_count",
    "min_key",
    "max_key",
    "min_sequence_number",
    "max_sequence_number",
    "delete_row_count",
    "value_min",
    "value_max",
    "value_null_counts",
    "value_stats_cols",
)
_TRUTHS = pa.schema(
    [
        pa.field("path", pa.string()),
        *(ENTRY_COLUMNS.field(name).with_nullable(nullable=True) for name in _TRUTH_NAMES),
    ]
)
_EXACT = {
    "row_count": Code.ROW_COUNT,
    "min_key": Code.KEY_RANGE,
    "max_key": Code.KEY_RANGE,
    "min_sequence_number": Code.SEQUENCE_RANGE,
    "max_sequence_number": Code.SEQUENCE_RANGE,
    "delete_row_count": Code.DELETE_ROW_COUNT,
}
_SERIALIZED = frozenset({"min_key", "max_key"})


@dataclass(frozen=True, slots=True, kw_only=True)
class TruthComparison:
    """Compares what is claimed of files of one schema with what is so.

    Attributes:
        files: The claims.
        schema: The schema that wrote the files.
        numbers_are_snapshots: Whether entries give the snapshot in place of sequence numbers
            (`sequence.snapshot-ordering`).
        report: Takes what is wrong.
    """

    files: ClaimedFiles
    schema: TableSchema
    numbers_are_snapshots: bool
    report: Report

    def compare(self, claims: Numbers, truths: Sequence[FileTruth]) -> None:
        """Compares some claims with the truth, one each."""
        rows = [{"path": each.path, **each.columns} for each in truths]
        true = pa.Table.from_pylist(rows, schema=_TRUTHS)
        said = self.files.rows.take(positions(claims))
        for name, code in _EXACT.items():
            if name.endswith("sequence_number") and self.numbers_are_snapshots:
                continue
            wrong = known_true(pc.not_equal(said[name], true[name]))
            if name in _SERIALIZED:
                # Rows of the postpone bucket are in no order.
                wrong &= said["bucket"].to_numpy() != POSTPONE_BUCKET
            for row in np.flatnonzero(wrong).tolist():
                problem = (
                    "is not that of its first row"
                    if name == "min_key"
                    else "is not that of its last row"
                )
                if name not in _SERIALIZED:
                    problem = f"is {said[name][row]}, and it is {true[name][row]} in truth"
                self._tell(code, int(claims[row]), f"its {name} {problem}")
        self._compare_statistics(claims, said, true)

    def _compare_statistics(self, claims: Numbers, said: pa.Table, true: pa.Table) -> None:
        fields = self.schema.fields
        names = pc.coalesce(joined(said["value_stats_cols"]), joined(said["write_cols"]))
        value_stats = StatsColumns(
            said["value_min"],
            said["value_max"],
            said["value_null_counts"],
            pa.chunked_array([names]),
        )
        truth = StatsColumns(
            true["value_min"],
            true["value_max"],
            true["value_null_counts"],
            true["value_stats_cols"],
        )
        keys = [self.schema.field(name) for name in self.schema.trimmed_primary_keys]
        key_stats = StatsColumns(said["key_min"], said["key_max"], said["key_null_counts"])
        known = self._bounds(claims, truth, fields)
        self._compare_bounds(claims, self._bounds(claims, value_stats, fields), known, noun="value")
        if keys:
            self._compare_bounds(claims, self._bounds(claims, key_stats, keys), known, noun="key")

    def _bounds(
        self, claims: Numbers, stats: StatsColumns, fields: Sequence[DataField]
    ) -> Mapping[str, ColumnBounds]:
        try:
            return bounds_from_stats(stats, fields)
        except LakebedError as error:
            self._tell(Code.STATISTICS, int(claims[0]), f"statistics cannot be read: {error}")
            return {}

    def _compare_bounds(
        self,
        claims: Numbers,
        said: Mapping[str, ColumnBounds],
        true: Mapping[str, ColumnBounds],
        *,
        noun: str,
    ) -> None:
        for name in sorted(said.keys() & true.keys()):
            for row in np.flatnonzero(leaves_out_nan(said[name], true[name])).tolist():
                problem = (
                    f"column {name!r} has NaN, and its upper bound is {_text(said[name].max, row)}"
                )
                self._tell(Code.NAN_ABOVE_BOUND, int(claims[row]), problem)
            for row in np.flatnonzero(contradicts(said[name], true[name])).tolist():
                problem = (
                    f"its {noun} statistics of column {name!r} are not true:"
                    f" {_differ(said[name], true[name], row)}"
                )
                self._tell(Code.STATISTICS, int(claims[row]), problem)

    def _tell(self, code: Code, claim: int, problem: str) -> None:
        where = f"{problem} (said in {self.files.manifest(claim)})"
        self.report.add(code, self.files.path(claim), where)


def _differ(said: ColumnBounds, true: ColumnBounds, row: int) -> str:
    sides = (
        f"{_text(each.min, row)} to {_text(each.max, row)}, {each.null_count[row]} nulls"
        for each in (said, true)
    )
    return " and not ".join(sides)


def _text(bounds: ArrowArray, row: int) -> str:
    """A value as Arrow writes it: Python has not all of them."""
    return bounds.slice(row, 1).to_string(indent=0).strip("[]\n")
