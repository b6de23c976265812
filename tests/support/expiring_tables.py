"""Tables whose snapshots expire, and what tests ask of them."""

from lakebed.table.table import Table
from support.table_builder import BuiltTable, Row, Shape, Step, sorted_rows

NOTHING: tuple[set[str], set[str]] = (set(), set())

KEYED = Shape(buckets=1)
UNAWARE = Shape(has_primary_key=False, buckets=-1, is_partitioned=True)
MARKED = Shape(has_primary_key=False, buckets=-1).with_options(
    {"deletion-vectors.enabled": "true", "write-only": "true"}
)
CHANGELOGS = Shape(buckets=2).with_options({"changelog-producer": "lookup"})
SHAPES = {
    "keyed": KEYED,
    "append": UNAWARE.with_options({"manifest.merge-min-count": "2"}),
    "marked": MARKED,
    "changelogs": CHANGELOGS,
}
STEPS = (
    Step("write", range(8)),
    Step("write", range(4, 10)),
    Step("delete", (1, 5)),
    Step("write", (2, 11)),
    Step("overwrite", range(3)),
    Step("write", range(20, 24)),
)
SHORT_STEPS = (
    Step("write", range(4)),
    Step("write", range(2, 6)),
    Step("overwrite", range(3)),
    Step("delete", (1,)),
    Step("write", (7, 8)),
)


def keep(table: Table, count: int) -> int:
    """Expires all but the newest."""
    return table.expire_snapshots(retain_max=count, retain_min=count)


def rows_at(table: Table, snapshot_id: int | None = None, tag: str | None = None) -> list[Row]:
    return sorted_rows(table.scan(snapshot_id=snapshot_id, tag=tag).to_arrow())


def ids_of(table: Table) -> list[int]:
    return [each.id for each in table.snapshots()]


def write(built: BuiltTable, *numbers: int) -> None:
    built.take(Step("write", numbers))


def damage_tag(table: Table) -> None:
    """Makes a tag that cannot be read."""
    table.file_io.write(table.parts().paths.tag("broken"), b"{}")
