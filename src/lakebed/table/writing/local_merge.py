"""Rows of one key that one task happens to have, merged before they go elsewhere.

`local-merge-buffer-size` says how many bytes of rows wait for others of their key. A full buffer is
merged as a write buffer is; what is left stays in it while it is less than half, so that a key
which comes all the time leaves as one row.

    come      (a, 1) (b, 1) (a, 2) | (a, 3) (c, 1)
    go on     (a, 3) (b, 1) (c, 1)                    a -D goes on, too: it may hit older rows

Where the rows of a key are merged twice, first here and there and then what came of it, the answer
must be that of one merge. It is for engines that pick a row. For those that make one it depends
on the functions, and on the order: a row of an older `sequence.field` that comes later, or a row
that takes back, would meet a row that is already made. Then rows go on as they came; so do rows
that cannot be merged, since who writes them says what is wrong.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pyarrow as pa

from lakebed.errors import InvalidDataError
from lakebed.format.fitted_rows import with_schema
from lakebed.format.key_value import VALUE_KIND
from lakebed.format.schema import TableSchema
from lakebed.format.types import AtomicType, TypeRoot
from lakebed.lsm.aggregation import Aggregation
from lakebed.lsm.engines import Folding, Picking, merging_of
from lakebed.lsm.functions.columns import ColumnFunction
from lakebed.lsm.merge import are_adds
from lakebed.lsm.partial_update import PartialUpdate
from lakebed.lsm.write_buffer import WriteBuffer
from lakebed.options.choices import ChangelogProducer
from lakebed.options.table_options import TableOptions
from lakebed.table.writing.align import align
from lakebed.table.writing.row_kinds import KIND_TEXTS, ROW_KIND, RowKinds

# Folding results is folding their inputs. What is left out: a `product` rounds at each step, others
# count rows or see how their inputs came.
_IN_ORDER = frozenset(
    {
        "first_non_null_value",
        "first_not_null_value",
        "first_value",
        "last_non_null_value",
        "last_value",
    }
)
_IN_ANY_ORDER = frozenset({"bool_and", "bool_or", "max", "min", "sum"})


@dataclass(frozen=True, slots=True)
class LocalMerge:
    """Opens mergers; a value that travels to tasks.

    Attributes:
        schema: The table's.
        buffer_bytes: `local-merge-buffer-size`.
    """

    schema: TableSchema
    buffer_bytes: int

    @classmethod
    def of(cls, schema: TableSchema, options: TableOptions) -> "LocalMerge | None":
        """None where rows are not merged early: nobody asked, or the table would not be the same.

        Args:
            schema: The table's.
            options: The table's.

        Raises:
            InvalidTableError: The options of merging contradict each other.
            UnsupportedError: A function that Lakebed lacks.
        """
        keys = set(schema.primary_keys)
        if options.local_merge_buffer_size is None or not keys:
            return None
        # A key that moves between partitions leaves a -D or its partition behind, and a changelog
        # of the input has every row.
        if not keys.issuperset(schema.partition_keys):
            return None
        if options.changelog_producer is ChangelogProducer.INPUT:
            return None
        merging = merging_of(schema, schema.options)
        if isinstance(merging, Folding) and not _folds_twice(merging, schema):
            return None
        return cls(schema, options.local_merge_buffer_size)

    def open(self) -> "LocalMerger":
        """A merger for the rows of one task."""
        merging = merging_of(self.schema, self.schema.options)
        order = replace(merging.order, key_names=tuple(self.schema.primary_keys))
        return LocalMerger(
            self.schema, replace(merging, order=order), buffer_bytes=self.buffer_bytes
        )


class LocalMerger:
    """Merges rows of a table as long as there is room for them.

    Args:
        schema: The table's.
        merging: How the rows of a key become one.
        buffer_bytes: How much is held.
    """

    def __init__(
        self, schema: TableSchema, merging: Picking | Folding, *, buffer_bytes: int
    ) -> None:
        self._schema = schema
        self._merging = merging
        self._buffer_bytes = buffer_bytes
        self._held: list[pa.RecordBatch] = []
        self._held_bytes = 0

    def add(self, rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Takes rows, the newest last, and gives out those that there is no room for.

        Args:
            rows: Columns of the table by name, and perhaps `_row_kind`; always the same.
        """
        self._held.append(rows)
        self._held_bytes += rows.nbytes
        if self._held_bytes >= self._buffer_bytes:
            merged = self._taken()
            if 2 * merged.nbytes < self._buffer_bytes:
                self._held, self._held_bytes = merged.to_batches(), merged.nbytes
            else:
                yield from merged.to_batches()

    def finish(self) -> Iterator[pa.RecordBatch]:
        """The rest."""
        if self._held:
            yield from self._taken().to_batches()

    def _taken(self) -> pa.Table:
        """What was held, merged if it can be."""
        rows = pa.Table.from_batches(self._held)
        self._held, self._held_bytes = [], 0
        try:
            return self._merged(rows)
        except (InvalidDataError, pa.ArrowException):
            return rows

    def _merged(self, rows: pa.Table) -> pa.Table:
        aligned, kinds = align(rows, self._schema)
        if isinstance(self._merging, Folding) and kinds is not None and not are_adds(kinds).all():
            return rows
        buffer = WriteBuffer(self._schema.names, merging=self._merging, first_sequence=0)
        buffer.add(aligned, kinds)
        flushed = buffer.flush()
        if flushed is None:
            return rows.schema.empty_table()
        run = pa.concat_tables(flushed.run)
        must_be_given = [field.name for field in self._schema.fields if not field.type.nullable]
        if any(run.column(name).null_count for name in must_be_given):
            # A later row may give the value.
            return rows
        if ROW_KIND in rows.column_names:
            told = KIND_TEXTS.take(run.column(VALUE_KIND.name).combine_chunks())
            run = run.append_column(ROW_KIND, told)
        return with_schema(run.select(rows.column_names), rows.schema)


def _folds_twice(merging: Folding, schema: TableSchema) -> bool:
    """Whether rows that were made of others merge like those others."""
    if RowKinds.of(schema).is_required:
        # The row that is made might have no kind.
        return False
    if any(field.default_value is not None for field in schema.fields):
        # The default would take the place of a null that is the answer.
        return False
    has_order = bool(merging.order.sequence_fields)
    if isinstance(merging.engine, PartialUpdate):
        # In a sequence group rows do not count in the order in which they come.
        functions = merging.engine.functions.values()
        return not has_order and all(_folds(each, schema, _IN_ANY_ORDER) for each in functions)
    if isinstance(merging.engine, Aggregation):
        if has_order and merging.engine.remove_record_on_delete:
            # A -D removes older rows, and would be older than what was made of them and others.
            return False
        known = _IN_ANY_ORDER if has_order else _IN_ANY_ORDER | _IN_ORDER
        return all(
            _folds(function, schema, known)
            for name, function in merging.engine.functions.items()
            if name not in merging.order.sequence_fields
        )
    return False


def _folds(function: ColumnFunction, schema: TableSchema, known: frozenset[str]) -> bool:
    kind = schema.field(function.column).type
    is_decimal = isinstance(kind, AtomicType) and kind.root is TypeRoot.DECIMAL
    # A sum of too many digits is null, and would be forgotten on the way.
    return function.function in known and not (function.function == "sum" and is_decimal)
