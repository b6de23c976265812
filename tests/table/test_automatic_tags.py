"""Which tags are made by themselves, as text; and what of it a commit does."""

import logging
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace as changed

from datadriven.script import check_script
from lakebed.errors import InvalidArgumentError
from lakebed.format.snapshot import Snapshot
from lakebed.options.tag_options import TagOptions
from lakebed.table.metadata.tags import Tags
from lakebed.table.table import Table
from lakebed.table.tags.automatic import make_due_tags
from support.effects import EPOCH_MS, reopen
from support.expiring_tables import KEYED, NOTHING, STEPS, keep, rows_at
from support.needed_files import lacking_and_unneeded
from support.table_builder import BuiltTable, build_table

DAY_MS = 86_400_000
WATERMARKS = {"end": 2**63 - 1, "none": -(2**63)}
BATCH = {"tag.automatic-creation": "batch"}


def epoch_ms(text: str) -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


def tags(told: tuple[str, ...]) -> list[str]:
    given = (each.split("=") for each in told[0].split())
    options = {key: value.replace("_min", " min") for key, value in given}
    zone = options.pop("zone", "UTC")
    table = build_table(KEYED, STEPS[:1], session={"lakebed.time-zone": zone}).table
    template = table.snapshots()[0]
    table.file_io.delete(table.parts().paths.snapshot(template.id))
    for line in told[1:]:
        if line.startswith("by hand: "):
            name, snapshot_id = line.removeprefix("by hand: ").rsplit(" ", 1)
            table.create_tag(name, int(snapshot_id))
            continue
        snapshots, _, gone = line.partition(" gone ")
        for each in snapshots.split():
            put_snapshot(table, template, each)
        for each in gone.split():
            table.file_io.delete(table.parts().paths.snapshot(int(each)))
        parts = table.parts(options)
        make_due_tags(parts, TagOptions.parse(parts.texts))
    return [f"{name} {snapshot_id}" for name, snapshot_id in tags_of(table).items()] or ["nothing"]


def put_snapshot(table: Table, template: Snapshot, told: str) -> None:
    snapshot_id, _, times = told.partition("@")
    time, _, watermark = times.partition("/")
    snapshot = changed(
        template,
        id=int(snapshot_id),
        time_millis=epoch_ms(time),
        watermark=WATERMARKS.get(watermark) or (epoch_ms(watermark) if watermark else None),
    )
    table.file_io.write(table.parts().paths.snapshot(snapshot.id), snapshot.to_json())


def tags_of(table: Table) -> dict[str, int]:
    stored = Tags(table.file_io, table.parts().paths)
    return {name: stored.load(name).snapshot.id for name in stored.list_names()}


def test_automatic_tags(request: pytest.FixtureRequest) -> None:
    rewrite = bool(request.config.getoption("--rewrite"))
    path = Path(__file__).with_name("automatic_tags.txt")
    check_script(path, {"tags": tags}, rewrite=rewrite)


def table_at(options: dict[str, str], time_ms: int = EPOCH_MS) -> BuiltTable:
    """A table with options whose clock stands."""
    built = build_table(KEYED.with_options(options))
    return replace(built, table=at(built.table, time_ms))


def at(table: Table, time_ms: int) -> Table:
    """The same table at another time."""
    return reopen(table, table.file_io, seed=time_ms, clock=lambda: time_ms)


def test_a_commit_makes_the_tags_that_are_due_and_keeps_their_files() -> None:
    built = table_at({"tag.automatic-creation": "process-time", "tag.num-retained-max": "2"})
    table, rows = built.table, {}
    for day, name in enumerate(("2025-12-31", "2026-01-01", "2026-01-02", "2026-01-03")):
        table = at(table, EPOCH_MS + day * DAY_MS)
        table.append(built.arrow([built.shape.row(day, 0)]))
        rows[name] = rows_at(table)
        keep(table, 1)
    assert tags_of(table) == {"2026-01-02": 3, "2026-01-03": 4}
    for name in tags_of(table):
        assert rows_at(table, tag=name) == rows[name]
    assert lacking_and_unneeded(table) == NOTHING


def test_a_table_that_is_write_only_leaves_tags_to_others_but_makes_them_on_request() -> None:
    built = table_at({"tag.automatic-creation": "process-time", "write-only": "true"})
    built.table.append(built.arrow([built.shape.row(1, 0)]))
    assert tags_of(built.table) == {}
    built.table.trigger_tag_automatic_creation()
    assert tags_of(built.table) == {"2025-12-31": 1}


def test_an_automatic_tag_has_the_default_retention_and_goes_after_it() -> None:
    built = table_at({"tag.automatic-creation": "process-time", "tag.default-time-retained": "1 d"})
    built.table.append(built.arrow([built.shape.row(1, 0)]))
    assert tags_of(built.table) == {"2025-12-31": 1}
    later = at(built.table, EPOCH_MS + DAY_MS + 1)
    later.append(built.arrow([built.shape.row(2, 0)]))
    assert tags_of(later) == {"2026-01-01": 2}


def test_a_commit_leaves_tags_past_their_time_where_the_table_says_so() -> None:
    built = table_at({"tag.time-expire-enabled": "false"})
    built.table.append(built.arrow([built.shape.row(1, 0)]))
    built.table.create_tag("t", time_retained="1 h")
    later = at(built.table, EPOCH_MS + DAY_MS)
    later.append(built.arrow([built.shape.row(2, 0)]))
    later.trigger_tag_automatic_creation()
    assert tags_of(later) == {"t": 1}
    assert later.expire_tags() == ["t"]


def test_a_batch_replaces_the_tag_of_its_day() -> None:
    built = table_at({**BATCH, "tag.num-retained-max": "2"})
    built.table.append(built.arrow([built.shape.row(1, 0)]))
    built.table.append(built.arrow([built.shape.row(2, 0)]))
    assert tags_of(built.table) == {"batch-write-2026-01-01": 2}
    built.table.create_tag("mine", 1)
    for day in (1, 2):
        at(built.table, EPOCH_MS + day * DAY_MS).append(built.arrow([built.shape.row(3, 0)]))
    assert tags_of(built.table) == {
        "batch-write-2026-01-02": 3,
        "batch-write-2026-01-03": 4,
        "mine": 1,
    }
    keep(built.table, 1)
    assert lacking_and_unneeded(built.table) == NOTHING


def test_a_batch_may_have_a_name_of_its_own_and_streams_are_no_batches() -> None:
    built = table_at({**BATCH, "tag.batch.customized-name": "nightly"})
    built.table.append(built.arrow([built.shape.row(1, 0)]))
    with built.table.writer(user="stream", identifier=1) as writer:
        writer.append(built.arrow([built.shape.row(2, 0)]))
    assert tags_of(built.table) == {"nightly": 1}


def test_a_commit_stands_when_tags_cannot_be_made(caplog: pytest.LogCaptureFixture) -> None:
    built = table_at({"tag.automatic-creation": "process-time"})
    built.file_io.write(built.table.parts().paths.tag("2025-12-30"), b"{}")
    with caplog.at_level(logging.WARNING):
        assert built.table.append(built.arrow([built.shape.row(1, 0)])) is not None
    assert "committed, but tags not looked at" in caplog.text
    assert built.table.scan().count() == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tag.creation-delay": "1 d"}, "the delay is shorter"),
        ({"tag.creation-period-duration": "0 ms"}, "cannot be 0"),
        ({"tag.num-retained-max": "0"}, "from 1 on"),
        ({"tag.creation-period": "weekly"}, "one of daily, hourly, two-hours"),
    ],
)
def test_options_that_cannot_be_are_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        TagOptions.parse(options)


def test_a_zone_that_is_none_is_told_on_request() -> None:
    options = {"tag.automatic-creation": "process-time", "sink.process-time-zone": "Mars/Base"}
    built = table_at(options)
    built.table.append(built.arrow([built.shape.row(1, 0)]))
    with pytest.raises(InvalidArgumentError, match="no time zone 'Mars/Base'"):
        built.table.trigger_tag_automatic_creation()
