"""Kafka: one node, broker and controller in one (KRaft), which may be stopped and started again.

What it needs is fetched once (`tools/kafka`). Topics have one partition, so that all messages are
in one order; nobody's name is asked for, and it listens on this machine alone.
"""

import subprocess
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Final, Self

from tools.peers.java import KAFKA
from tools.services.servers import HOST, lasting_port, serving

_CLUSTER: Final = "bGFrZWJlZC10ZXN0cy0tLQ"  # sixteen bytes in base64, as Kafka wants them
_PROPERTIES: Final = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@{host}:{controller}
listeners=PLAINTEXT://{host}:{broker},CONTROLLER://{host}:{controller}
advertised.listeners=PLAINTEXT://{host}:{broker}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
log.dirs={logs}
num.network.threads=2
num.io.threads=2
background.threads=2
num.partitions=1
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
log.cleaner.enable=false
auto.create.topics.enable=false
"""


class Kafka:
    """A node that runs inside its `with` block, but for when it is stopped.

    Args:
        directory: Where it keeps messages, its settings and its log.
    """

    def __init__(self, directory: Path) -> None:
        """Makes what it keeps; it does not run yet."""
        self._directory = directory
        self._port = lasting_port()
        self._running = ExitStack()
        self._format(controller=lasting_port(beside=self._port))

    def __enter__(self) -> Self:
        """Starts it."""
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Ends it."""
        self.stop()

    @property
    def address(self) -> str:
        """What clients take for `bootstrap.servers`; the same after a restart."""
        return f"{HOST}:{self._port}"

    def start(self) -> None:
        """Starts it with what it kept, and returns when it takes connections."""
        command = [*KAFKA.command(), str(self._settings)]
        log = self._directory / "kafka.log"
        self._running.enter_context(serving(command, port=self._port, log=log))

    def stop(self) -> None:
        """Ends it; what it was given is kept."""
        self._running.close()

    @property
    def _settings(self) -> Path:
        return self._directory / "server.properties"

    def _format(self, *, controller: int) -> None:
        self._directory.mkdir(parents=True, exist_ok=True)
        text = _PROPERTIES.format(
            host=HOST, broker=self._port, controller=controller, logs=self._directory / "logs"
        )
        self._settings.write_text(text, encoding="utf-8")
        tool = replace(KAFKA, main="kafka.tools.StorageTool").command()
        done = subprocess.run(
            [*tool, "format", "-t", _CLUSTER, "-c", str(self._settings)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"Kafka's directory was not made:\n{done.stdout[-2000:]}")
