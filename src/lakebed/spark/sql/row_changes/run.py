"""How are UPDATE and DELETE run, where Spark has to find the rows?"""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame

from lakebed.format.snapshot import Operation
from lakebed.lsm.engines import merging_of
from lakebed.lsm.overruling import keeps_newest
from lakebed.options.values import parse_boolean
from lakebed.spark.changed_table import ChangedTable
from lakebed.spark.conditions import spark_errors
from lakebed.spark.lake import Lake
from lakebed.spark.names import quoted
from lakebed.spark.sql.arguments import Arguments
from lakebed.spark.sql.queries import Run
from lakebed.spark.sql.row_changes.assignments import assigned
from lakebed.spark.sql.row_changes.expressions import (
    bare,
    find_predicate,
    qualifiers_of,
    with_aliases,
)
from lakebed.spark.sql.row_changes.frames import Splicing, aligned, held
from lakebed.spark.sql.row_changes.merge import merge
from lakebed.spark.sql.row_changes.statements import Merge, Update
from lakebed.spark.sql.statements import Delete, Statement
from lakebed.table.row_updates import check_updatable
from lakebed.table.table import Table

_FORCE_CHANGELOG = "delete.force-produce-changelog"


def update(lake: Lake, statement: Update, given: Arguments) -> DataFrame | None:
    """UPDATE; None when the table is Spark's."""
    name = lake.resolve(statement.name)
    if name is None:
        return None
    table = lake.load(name)
    names = qualifiers_of(name, statement.alias)
    alias = statement.alias or name.table
    texts = assigned(table, statement.assignments, names, alias=alias)
    values = {
        column: with_aliases(text, dict.fromkeys(names, alias)) for column, text in texts.items()
    }
    condition = with_aliases(statement.condition or "TRUE", dict.fromkeys(names, alias))
    where = find_predicate(lake, table, bare(condition, alias))
    with spark_errors():
        changed = ChangedTable.of(lake, table, where)
        if table.primary_keys:
            check_updatable(changed.parts, changed.base, frozenset(values))
            if not keeps_newest(merging_of(table.schema, changed.parts.texts)):
                # Only there is each new row held against the one that it must overrule.
                own = {column: bare(text, alias) for column, text in values.items()}
                table.update(own, bare(condition, alias))
                return lake.empty()
    found = _found(changed, alias, condition, values=values, given=given)
    if table.primary_keys:
        changed.commit(aligned(found, table, kind="+U"), operation=Operation.UPDATE)
        return lake.empty()
    with held(lake, found):
        names_out = found.columns[: len(table.schema.names)]
        columns = [*table.schema.names, *changed.brought]
        rows = found.select(*names_out, *changed.brought)
        new = aligned(rows, changed.written, columns=columns, kind="+U")
        if changed.is_tracked:
            changed.commit(None, [found], tracked=new, operation=Operation.UPDATE)
        else:
            changed.commit(new, [found], operation=Operation.UPDATE)
    return lake.empty()


def delete(lake: Lake, statement: Delete, given: Arguments) -> DataFrame | None:
    """DELETE FROM; None when the table is Spark's."""
    name = lake.resolve(statement.name)
    if name is None:
        return None
    table = lake.load(name)
    alias = statement.alias or name.table
    predicate = find_predicate(lake, table, bare(statement.condition or "TRUE", alias))
    if predicate is not None:
        with spark_errors():
            if statement.condition is None and not _tells_every_delete(table):
                table.truncate()
            else:
                table.delete(predicate)
        return lake.empty()
    names = qualifiers_of(name, statement.alias)
    condition = with_aliases(statement.condition or "TRUE", dict.fromkeys(names, alias))
    with spark_errors():
        changed = ChangedTable.of(lake, table)
    found = _found(changed, alias, condition, values={}, given=given)
    if table.primary_keys:
        changed.commit(aligned(found, table, kind="-D"), operation=Operation.DELETE)
    else:
        changed.commit(None, [found], operation=Operation.DELETE)
    return lake.empty()


def _tells_every_delete(table: Table) -> bool:
    """Whether rows are deleted one by one, so that a changelog has them, though all of them go."""
    forced = parse_boolean(table.options.get(_FORCE_CHANGELOG, "false"), _FORCE_CHANGELOG)
    return forced and bool(table.primary_keys)


def _found(
    changed: ChangedTable,
    alias: str,
    condition: str,
    *,
    values: Mapping[str, str],
    given: Arguments,
) -> DataFrame:
    """The rows that are meant, with their new values and, without a primary key, their places."""
    table = changed.table
    splicing = Splicing(changed.lake, given)
    outputs = [
        splicing.piece(values[each]) if each in values else quoted((alias, each))
        for each in table.schema.names
    ]
    places = [] if table.primary_keys else [*changed.identity, *changed.brought]
    found = splicing.query(
        f"SELECT {', '.join([*outputs, *(quoted((alias, each)) for each in places)])}"
        f" FROM {{lakebed_rows}} AS {quoted((alias,))} WHERE {splicing.piece(condition)}",
        lakebed_rows=changed.frame(table.schema.names),
    )
    return found.toDF(*(f"_{index}" for index in range(len(outputs))), *places)


RUNS: dict[type[Statement], Run[Any]] = {Update: update, Delete: delete, Merge: merge}
