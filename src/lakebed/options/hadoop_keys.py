"""Which options may a catalog be given for Google's storage, Aliyun's, and HDFS?

They have the names of Hadoop's connectors; HDFS's settings are Hadoop's own, with `hadoop.` before
them, as Paimon has it.
"""

from dataclasses import replace

from lakebed.options.option import NEITHER, Option
from lakebed.options.rows import acting, refused, tuning


def _accepting(values: tuple[str, ...], line: str) -> tuple[Option, ...]:
    """An option that is acted on for some values alone."""
    return tuple(replace(option, accepted=values) for option in acting(line))


_KEYFILE = (
    "fs.gs.auth.service.account.json.keyfile",
    "gs.auth.service.account.json.keyfile",
    "google.cloud.auth.service.account.json.keyfile",
)
_GCS = (
    *acting(f"{' '.join(_KEYFILE)} | text | | the file with a service account's key"),
    *_accepting(
        ("application_default", "service_account_json_keyfile", "unauthenticated"),
        "fs.gs.auth.type gs.auth.type | word | application_default | how requests are signed",
    ),
    *acting(
        "fs.gs.storage.root.url gs.storage.root.url | text | | where the store is, if not at Google"
    ),
    *tuning(
        """
        fs.gs.block.size gs.block.size | text | | how long a block is that Hadoop reports
        fs.gs.impl gs.impl | text | | Hadoop's class
        fs.gs.inputstream.fadvise gs.inputstream.fadvise | text | | how files are read ahead
        fs.gs.project.id gs.project.id | text | | the project that new buckets belong to
        """
    ),
)

_OSS = (
    *acting(
        """
        fs.oss.endpoint | text | | the host of the bucket's region
        fs.oss.region | text | | the region; else the endpoint's
        fs.oss.accessKeyId fs.oss.accesskeyid | text | | the name of the key that signs requests
        fs.oss.accessKeySecret fs.oss.accesskeysecret | text | | the key that signs requests
        fs.oss.securityToken fs.oss.securitytoken | text | | the token of a key for a limited time
        fs.oss.cname.enabled | boolean | false | whether the endpoint is the bucket's own domain
        """
    ),
    *tuning(
        """
        fs.oss.attempts.maximum | text | | how often a request is repeated
        fs.oss.block.size | text | | how long a block is that Hadoop reports
        fs.oss.buffer.dir | text | | where parts of files wait
        fs.oss.connection.establish.timeout | text | | how long a connection is waited for
        fs.oss.connection.maximum | text | | how many connections there are
        fs.oss.connection.timeout | text | | how long an answer is waited for
        fs.oss.impl | text | | Hadoop's class
        fs.oss.multipart.download.size | text | | how much is read ahead
        fs.oss.multipart.download.threads | text | | how many threads read ahead
        fs.oss.multipart.upload.size | text | | how long a part of a file is
        fs.oss.multipart.upload.threshold | text | | from which length on there are parts
        fs.oss.paging.maximum | text | | how many files a listing asks for
        """
    ),
    *refused(
        """
        fs.oss.server-side-encryption | text | | how files are encrypted
        fs.oss.server-side-encryption-algorithm | text | | how files are encrypted
        fs.oss.server-side-encryption-key-id | text | | which key of the store encrypts them
        fs.oss.server-side-data-encryption | text | | how data are encrypted
        fs.oss.sld.enabled | boolean | false | whether the bucket stands in the path
        """,
        changes=NEITHER,
    ),
)

_HADOOP = acting(
    """
    fs.defaultFS | text | | the cluster of a location that names none
    fs.viewfs.mounttable.* | text | | which clusters a view is made of
    hadoop.security.authentication | text | simple | how the cluster knows who asks
    hadoop.security.key.provider.path | text | | who has the keys of encrypted directories
    dfs.nameservices | text | | names of clusters
    dfs.ha.namenodes.<cluster> | text | | the name nodes of a cluster
    dfs.namenode.rpc-address.* | text | | the address of a name node
    dfs.client.block.write.replace-datanode-on-failure.* | text | | whether others take over
    dfs.client.failover.max.attempts | text | | how often a name node is asked
    dfs.client.failover.proxy.provider.<cluster> | text | | how the active name node is found
    dfs.client.failover.random.order.<cluster> | text | | whether name nodes are asked in any order
    dfs.client.failover.resolve-needed.<cluster> | text | | whether a name has several addresses
    dfs.client.failover.resolver.useFQDN.<cluster> | text | | whether they are named in full
    dfs.client.failover.sleep.base.millis | text | | how long a repetition waits
    dfs.client.failover.sleep.max.millis | text | | and at most
    dfs.client.socket-timeout | text | | how long an answer is waited for
    dfs.client.use.datanode.hostname | text | | whether data nodes are called by name
    dfs.data.transfer.protection | text | | whether data are signed or encrypted on their way
    dfs.user.home.dir.prefix | text | | where users have their directories
    """
)

_HDFS = (
    *(replace(option, key=f"hadoop.{option.key}") for option in _HADOOP),
    *(option for option in _HADOOP if option.key.startswith("dfs.")),
    *acting(
        """
        hadoop-conf-dir | text | | where core-site.xml and hdfs-site.xml are
        security.kerberos.login.principal | text | | who asks, by Kerberos
        security.kerberos.login.keytab | text | | the file with the principal's key
        """
    ),
    *tuning("fs.hdfs.impl | text | | Hadoop's class"),
    *_accepting(
        ("true",),
        "security.kerberos.login.use-ticket-cache | boolean | true | whether tickets are cached",
    ),
)

HADOOP_STORES: tuple[Option, ...] = (*_GCS, *_OSS, *_HDFS)
