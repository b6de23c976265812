"""Which snapshots and changelogs expire, as text."""

import re
from pathlib import Path

import pytest

from datadriven.script import check_script
from lakebed.errors import InvalidArgumentError
from lakebed.format.schema_definition import schema
from lakebed.options.expiry_options import ExpiryOptions
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.expiry.policy import Retention, expiring_changelog_count, expiring_count
from support.effects import open_catalog

MINUTE_MS = 60_000


def expire(told: tuple[str, ...]) -> list[str]:
    arguments = dict(each.split("=") for each in told[0].split())
    numbers = {name: int(value) for name, value in arguments.items()}
    now, next_read = numbers.pop("now") * MINUTE_MS, numbers.pop("next_read", None)
    snapshots = [each.split("@") for line in told[1:] for each in line.split()]
    times = {int(each): int(minute) * MINUTE_MS for each, minute in snapshots}
    try:
        retention = Retention.of(ExpiryOptions.parse({}), now, **numbers)
    except InvalidArgumentError as error:
        return [str(error)]
    ids = list(times)
    count = expiring_count(ids, retention, next_read=next_read, time_of=times.__getitem__)
    return shown(ids, count)


def expire_changelogs(told: tuple[str, ...]) -> list[str]:
    arguments = dict(each.split("=") for each in told[0].split())
    numbers = {name: int(value) for name, value in arguments.items()}
    now, latest = numbers.pop("now") * MINUTE_MS, numbers.pop("latest")
    next_read = numbers.pop("next_read", None)
    changelogs = [each.split("@") for each in told[1].split()]
    times = {int(each): int(minute) * MINUTE_MS for each, minute in changelogs}
    options = ExpiryOptions.parse({"changelog.time-retained": "2 h"})
    count = expiring_changelog_count(
        list(times),
        Retention.of_changelogs(options, now, **numbers),
        latest_id=latest,
        next_read=next_read,
        time_of=times.__getitem__,
    )
    return shown(list(times), count)


def shown(ids: list[int], count: int) -> list[str]:
    lines = {"expired": ids[:count], "kept": ids[count:]}
    return [
        " ".join([name, *map(str, listed)])
        for name, listed in lines.items()
        if listed or name == "kept"
    ]


def test_expiring(request: pytest.FixtureRequest) -> None:
    rewrite = bool(request.config.getoption("--rewrite"))
    path = Path(__file__).with_name("expiring.txt")
    check_script(path, {"expire": expire}, rewrite=rewrite)


def test_expiring_changelogs(request: pytest.FixtureRequest) -> None:
    rewrite = bool(request.config.getoption("--rewrite"))
    path = Path(__file__).with_name("expiring_changelogs.txt")
    check_script(path, {"expire": expire_changelogs}, rewrite=rewrite)


@pytest.mark.parametrize(
    ("options", "longer"),
    [
        ({}, False),
        ({"changelog.time-retained": "1 h"}, False),
        ({"changelog.time-retained": "61 min"}, True),
        ({"changelog.num-retained.min": "9"}, False),
        ({"changelog.num-retained.min": "11"}, True),
        ({"snapshot.num-retained.max": "20", "changelog.num-retained.max": "21"}, True),
    ],
)
def test_changelogs_outlive_snapshots_where_more_of_them_are_kept(
    options: dict[str, str], *, longer: bool
) -> None:
    assert ExpiryOptions.parse(options).keeps_changelogs is longer
    both = ExpiryOptions.parse({**options, "consumer.changelog-only": "true"})
    assert both.consumers_keep_snapshots is not longer


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"snapshot.num-retained.min": "0"}, "it takes a whole number from 1 on"),
        ({"snapshot.num-retained.max": "9"}, "'snapshot.num-retained.min' is 10. Set both"),
        ({"snapshot.time-retained": "soon"}, "snapshot.time-retained"),
        ({"changelog.num-retained.min": "0"}, "it takes a whole number from 1 on"),
        ({"changelog.num-retained.max": "3"}, "'changelog.num-retained.min' is 10. Set both"),
    ],
)
def test_options_that_cannot_be_are_refused_when_a_table_is_made(
    options: dict[str, str], message: str
) -> None:
    catalog = open_catalog(MemoryFileIO())
    catalog.create_database("db")
    with pytest.raises(InvalidArgumentError, match=re.escape(message)):
        catalog.create_table("db.t", schema=schema([("id", "INT")]), options=options)
