"""HDFS of Hadoop's own test cluster: one data node, and one or two name nodes, in one JVM.

What it needs is fetched once (`tools/hdfs`). It listens on this machine alone and asks nobody who
they are: no Kerberos, no permissions.
"""

from pathlib import Path
from typing import Self

from tools.peers.java import HDFS
from tools.peers.process import JsonProcess
from tools.services.servers import HOST

_NAME_SERVICE = "tests"


class Hdfs:
    """A cluster that runs until it is closed.

    Args:
        directory: Where it keeps its files.
        name_nodes: One, or two of which one is active.
    """

    def __init__(self, directory: Path, *, name_nodes: int = 1) -> None:
        """Starts it, and returns when it takes requests."""
        command = [*HDFS.command(), str(directory), str(name_nodes)]
        self._process = JsonProcess("HDFS", command, environment={})
        self.ports: list[int] = self._process.ask("ports")["ports"]

    def __enter__(self) -> Self:
        """The cluster itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Ends it."""
        self.close()

    def close(self) -> None:
        """Ends it; its files are worth nothing any more."""
        self._process.close()

    @property
    def url(self) -> str:
        """Such as `hdfs://127.0.0.1:8020`: its first name node."""
        return f"hdfs://{HOST}:{self.ports[0]}"

    def fail_over(self) -> None:
        """Makes the second name node the active one."""
        self._process.ask("fail_over")

    def write_configuration(self, directory: Path) -> str:
        """Writes a client's `core-site.xml` and `hdfs-site.xml`, as HADOOP_CONF_DIR names them.

        Returns:
            The default file system that they give: a name, which stands for all name nodes.
        """
        url = f"hdfs://{_NAME_SERVICE}"
        names = [f"nn{number}" for number in range(len(self.ports))]
        sites = {
            "core-site.xml": {"fs.defaultFS": url},
            "hdfs-site.xml": {
                "dfs.nameservices": _NAME_SERVICE,
                f"dfs.ha.namenodes.{_NAME_SERVICE}": ",".join(names),
                f"dfs.client.failover.proxy.provider.{_NAME_SERVICE}": (
                    "org.apache.hadoop.hdfs.server.namenode.ha.ConfiguredFailoverProxyProvider"
                ),
                **{
                    f"dfs.namenode.rpc-address.{_NAME_SERVICE}.{name}": f"{HOST}:{port}"
                    for name, port in zip(names, self.ports, strict=True)
                },
            },
        }
        for file_name, values in sites.items():
            properties = "".join(
                f"<property><name>{name}</name><value>{value}</value></property>"
                for name, value in values.items()
            )
            text = f"<configuration>{properties}</configuration>"
            (directory / file_name).write_text(text, encoding="utf-8")
        return url
