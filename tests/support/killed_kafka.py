"""From Kafka into a table, and its changelog into Kafka, by streams that are killed at any moment.

Messages come in all the while. The broker is stopped and started again once, and the streams live
through it. In half of the cases the last lines of checkpoints are lost with the process.
"""

import json
import random
import time
from collections.abc import Mapping
from pathlib import Path

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

import lakebed
from lakebed.table.table import Table
from support.killed_programs import Outcome, StreamProgram
from support.told_changes import Change, Changes, by_key, find_violations, without_repeats
from support.writing import Writing
from tools.services.kafka import Kafka

_KEYS = 20
_NO_VALUE = 0  # Spark's JSON leaves out what is null; messages are numbered from 1
_LOOK_SECONDS = 0.1
_TOPIC_SECONDS = 30
_READ_SECONDS = 60
_FLUSH_SECONDS = 60
_OPTIONS: dict[str, str | int] = {
    "bucket": 2,
    "changelog-producer": "lookup",
    "snapshot.num-retained.min": 100_000,
    "snapshot.num-retained.max": 100_000,
}


def run_killed_kafka(directory: Path, *, seed: int, kills: int) -> Outcome:
    """Has streams run and killed, and compares table and topic with what was written.

    Args:
        directory: Where the broker, the table and checkpoints are.
        seed: Decides what is written, when the process is killed and the broker stopped.
        kills: How often the process is killed.
    """
    chance, outcome = random.Random(f"{seed}/kills"), Outcome()
    table = _make_table(directory)
    restart = chance.randrange(kills)
    with Kafka(directory / "kafka") as broker:
        _make_topics(broker.address)
        program = StreamProgram("support.kafka_job", directory, (broker.address,))
        writing = _Writing(broker.address, random.Random(f"{seed}/messages"))
        with writing:
            for number in range(kills):
                done = len(program.done())
                with program.running() as process:
                    program.await_progress(process, since=done)
                    if number == restart:
                        broker.stop()
                        time.sleep(chance.uniform(0, 2))
                        broker.start()
                        program.await_progress(process, since=len(program.done()) + 1)
                        outcome.counts["restarts of the broker"] += 1
                    time.sleep(chance.uniform(0, 4))
                outcome.counts["kills"] += 1
                if chance.random() < 1 / 2:
                    outcome.counts["lost lines of checkpoints"] += program.lose_last_lines()
        outcome.violations += program.drain()
        told = _read_topic(broker.address)
    outcome.counts["messages in"] = writing.count
    outcome.counts["messages out"] = sum(map(len, told.values()))
    outcome.counts["of them repeats"] = outcome.counts["messages out"] - sum(
        map(len, without_repeats(told).values())
    )
    outcome.violations += _judge(table, told, writing.model)
    return outcome


def _make_table(directory: Path) -> Table:
    catalog = lakebed.load_catalog(warehouse=(directory / "lake").as_uri())
    catalog.create_database("db")
    schema = lakebed.schema([("k", "INT NOT NULL"), ("v", "BIGINT")])
    return catalog.create_table("db.accounts", schema=schema, primary_key=["k"], options=_OPTIONS)


def _make_topics(address: str) -> None:
    """Makes both; a broker listens a moment before it takes topics."""
    client = AdminClient({"bootstrap.servers": address})
    deadline = time.monotonic() + _TOPIC_SECONDS
    for name in ("in", "out"):
        topic = NewTopic(name, num_partitions=1, replication_factor=1)
        while (failure := client.create_topics([topic])[name].exception()) is not None:
            if time.monotonic() > deadline:
                raise failure
            time.sleep(_LOOK_SECONDS)


class _Writing(Writing):
    """Sends messages; all have arrived when the `with` block ends.

    Attributes:
        model: The value of each key that has one.
        count: How many messages were sent; each value is the number of its message.
    """

    def __init__(self, address: str, chance: random.Random) -> None:
        super().__init__()
        self.model: dict[int, int] = {}
        self.count = 0
        self._chance = chance
        # Neither twice nor in another order, though the broker goes away meanwhile.
        self._producer = Producer(
            {"bootstrap.servers": address, "enable.idempotence": True, "log_level": 0}
        )
        self._failures: list[str] = []

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        waiting = self._producer.flush(_FLUSH_SECONDS)
        if waiting or self._failures:
            raise RuntimeError(f"{waiting} messages did not arrive, and {self._failures[:3]}")

    def pause_seconds(self) -> float:
        return self._chance.uniform(0, 0.4)

    def write(self) -> None:
        chance = self._chance
        for _ in range(chance.randint(1, 8)):
            self._send(chance.randrange(_KEYS), is_deletion=chance.random() < 1 / 4)
        self._producer.poll(0)

    def _send(self, key: int, *, is_deletion: bool) -> None:
        self.count += 1
        if is_deletion:
            self.model.pop(key, None)
        else:
            self.model[key] = self.count
        value = None if is_deletion else str(self.count)
        self._producer.produce("in", key=str(key), value=value, on_delivery=self._note)

    def _note(self, error: KafkaError | None, _message: Message) -> None:
        if error is not None:
            self._failures.append(str(error))


def _read_topic(address: str) -> Changes:
    """All that the topic `out` says."""
    consumer = Consumer({"bootstrap.servers": address, "group.id": "judge", "log_level": 0})
    place = TopicPartition("out", 0, OFFSET_BEGINNING)
    _, end = consumer.get_watermark_offsets(place, timeout=_READ_SECONDS)
    consumer.assign([place])
    messages: list[Message] = []
    deadline = time.monotonic() + _READ_SECONDS
    while len(messages) < end:
        messages += consumer.consume(end - len(messages), timeout=1)
        if time.monotonic() > deadline:
            raise TimeoutError(f"{len(messages)} of {end} messages came")
    consumer.close()
    return by_key(map(_parsed, messages))


def _parsed(message: Message) -> tuple[int, Change]:
    key, value = message.key(), message.value()
    if message.error() is not None or key is None or value is None:
        raise RuntimeError(f"no change: {message.error()} {key!r} {value!r}")
    row = json.loads(value)
    return int(key), Change(row["kind"], row.get("v", _NO_VALUE))


def _judge(table: Table, told: Changes, model: Mapping[int, int]) -> list[str]:
    rows = {row["k"]: row["v"] for row in table.scan().to_arrow().to_pylist()}
    violations = [
        f"the table has {rows.get(key)} for {key}, and {model.get(key)} is right"
        for key in sorted({*rows, *model})
        if rows.get(key) != model.get(key)
    ]
    changelog = by_key(
        (row["k"], Change(row["_row_kind"], row["v"] or _NO_VALUE))
        for batch in table.stream(from_snapshot=1, until="latest")
        for row in batch.to_pylist()
    )
    violations += [f"changelog: {problem}" for problem in find_violations(changelog, model)]
    violations += [f"topic: {problem}" for problem in find_violations(told, model)]
    if without_repeats(told) != changelog:
        violations.append("the topic without repeats is not the changelog of the table")
    return violations
