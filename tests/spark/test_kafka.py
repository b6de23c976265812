"""From Kafka into a table, and from its changelog into Kafka, through Spark and a real broker."""

from pathlib import Path

import pytest

from support.killed_kafka import run_killed_kafka

pytestmark = [pytest.mark.stores, pytest.mark.spark]

KILLS = 2


def test_a_changelog_in_kafka_equals_what_was_sent_though_streams_and_broker_end_on_the_way(
    tmp_path: Path,
) -> None:
    outcome = run_killed_kafka(tmp_path, seed=1, kills=KILLS)
    assert outcome.violations == []
    assert outcome.counts["kills"] == KILLS
    assert outcome.counts["restarts of the broker"] == 1
