"""What the real Paimon 1.4.2 refuses of changelogs and record-level expire, Lakebed refuses too."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from lakebed.errors import InvalidTableError
from lakebed.format.schema_definition import schema
from lakebed.storage.memory import MemoryFileIO
from support.effects import open_catalog
from tools.peers.process import PeerError
from tools.peers.referee import Referee

pytestmark = pytest.mark.peers

_COLUMNS = [("id", "BIGINT NOT NULL"), ("v", "BIGINT"), ("w", "STRING")]
_ENGINES = ("deduplicate", "partial-update", "aggregation", "first-row")
_PRODUCERS = ("none", "input", "lookup", "full-compaction")
_EXPIRY = "record-level.expire-time"
_TIME_FIELD = "record-level.time-field"
# Such tables are made by the real engine, and then fail, or do not do what they were told.
_ONLY_BY_LAKEBED = (
    "full-compaction.delta-commits contradicts changelog-producer=lookup",
    "row-deduplicate contradicts changelog-producer=input",
    "row-deduplicate-ignore-fields names",
    "record-level.expire-time needs",
)


@pytest.fixture(scope="module")
def referee() -> Iterator[Referee]:
    referee = Referee()
    yield referee
    referee.close()


def refusal_of_lakebed(key: list[str], options: dict[str, str]) -> str | None:
    catalog = open_catalog(MemoryFileIO())
    catalog.create_database("db")
    try:
        catalog.create_table("db.t", schema=schema(_COLUMNS), primary_key=key, options=options)
    except InvalidTableError as error:
        return str(error)
    return None


def refusal_of_java(
    referee: Referee, path: Path, key: list[str], *, options: dict[str, str]
) -> str | None:
    fields = [
        {"id": place, "name": name, "type": kind} for place, (name, kind) in enumerate(_COLUMNS)
    ]
    described = {
        "fields": fields,
        "primaryKeys": key,
        "partitionKeys": [],
        "options": options,
        "comment": "",
    }
    try:
        referee.create(path, described)
    except PeerError as error:
        return str(error)
    return None


def cases() -> Iterator[tuple[list[str], dict[str, str]]]:
    switches: tuple[dict[str, str], ...] = (
        {},
        {"deletion-vectors.enabled": "true"},
        {"full-compaction.delta-commits": "3"},
        {"changelog-producer.row-deduplicate": "true"},
        {"changelog-producer.row-deduplicate-ignore-fields": "x"},
        {"write-only": "true"},
    )
    for engine, producer, switch in product(_ENGINES, _PRODUCERS, switches):
        named = {"merge-engine": engine, "changelog-producer": producer}
        yield ["id"], {"bucket": ("1", "-1", "-2")[len(engine) % 3], **named, **switch}
    for producer in _PRODUCERS:
        yield [], {"bucket": "-1", "changelog-producer": producer}
    yield [], {"bucket": "-1", "full-compaction.delta-commits": "3"}
    yield [], {"bucket": "1", "bucket-key": "id", "full-compaction.delta-commits": "3"}
    for name in ("v", "w", "x"):
        yield ["id"], {"bucket": "1", _EXPIRY: "1 h", _TIME_FIELD: name}
        yield ["id"], {"bucket": "1", _TIME_FIELD: name}
    yield ["id"], {"bucket": "1", _EXPIRY: "1 h"}
    yield [], {"bucket": "-1", _EXPIRY: "1 h", _TIME_FIELD: "v"}


def test_a_table_that_the_real_engine_refuses_is_refused(referee: Referee, tmp_path: Path) -> None:
    refused_count = 0
    for number, (key, options) in enumerate(cases()):
        ours = refusal_of_lakebed(key, options)
        path = tmp_path / "db.db" / f"t{number}"
        theirs = refusal_of_java(referee, path, key, options=options)
        refused_count += theirs is not None
        if theirs is not None:
            assert ours is not None, f"{options}: {theirs[:300]}"
        elif ours is not None:
            assert any(reason in ours for reason in _ONLY_BY_LAKEBED), f"{options}: {ours}"
    assert refused_count
