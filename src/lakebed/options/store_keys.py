"""Which options may a catalog be given for its store?

Paimon's names of S3's options are Hadoop's with another beginning and hyphens for dots, so one
option has several spellings; the store takes any of them.
"""

from dataclasses import replace

from lakebed.options.hadoop_keys import HADOOP_STORES
from lakebed.options.option import Option, Standing, value_type
from lakebed.options.rows import acting, tuning

_S3_PREFIXES = ("s3.", "s3a.", "fs.s3a.")
_AZURE_PREFIXES = ("fs.azure.", "azure.", "fs.wasb.")


def _spelt(options: tuple[Option, ...], prefixes: tuple[str, ...]) -> tuple[Option, ...]:
    """Options whose names want a beginning, any of several."""
    spelt = []
    for option in options:
        key, *others = (
            prefix + name for name in (option.key, *option.old_keys) for prefix in prefixes
        )
        spelt.append(replace(option, key=key, old_keys=tuple(others)))
    return tuple(spelt)


_S3 = _spelt(
    acting(
        """
        endpoint | text | | the host or URL of a store that speaks as S3 does; else Amazon's
        region endpoint.region | text | | the region; else the endpoint's, or us-east-1
        access-key access.key | text | | the name of the key that signs requests
        secret-key secret.key | text | | the key that signs requests
        session.token session-token | text | | the token of a key for a limited time
        path.style.access path-style-access | boolean | | whether the bucket stands in the path
        connection.ssl.enabled | boolean | true | whether requests are encrypted, if no URL says so
        requester.pays.enabled | boolean | false | whether who asks pays
        encryption.algorithm server-side-encryption-algorithm | text | | how files are encrypted
        encryption.key server-side-encryption.key | text | | which key of the store encrypts them
        aws.credentials.provider | text | | where keys come from
        """
    )
    + tuning(
        """
        attempts.maximum | text | | how often a request is repeated
        block.size | text | | how long a block is that Hadoop reports
        buffer.dir | text | | where parts of files wait
        bucket.probe | text | | how Hadoop looks for the bucket
        change.detection.mode | text | | what Hadoop does of files that change
        connection.maximum | text | | how many connections there are
        connection.timeout | text | | how long an answer is waited for
        connection.establish.timeout | text | | how long a connection is waited for
        directory.marker.retention | text | | whether Hadoop keeps markers of directories
        fast.upload | text | | whether Hadoop sends files while it writes them
        fast.upload.buffer | text | | where parts of files wait
        impl | text | | Hadoop's class
        input.fadvise | text | | how files are read ahead
        experimental.input.fadvise | text | | how files are read ahead
        list.version | text | | which request lists
        max.total.tasks | text | | how many requests wait
        multiobjectdelete.enable | text | | whether many files are deleted at once
        multipart.size | text | | how long a part of a file is
        multipart.threshold | text | | from which length on a file is sent in parts
        paging.maximum | text | | how many files a listing asks for
        readahead.range | text | | how far is read ahead
        retry.interval | text | | how long a repetition waits
        retry.limit | text | | how often a request is repeated
        socket.recv.buffer | text | | a buffer's size
        socket.send.buffer | text | | a buffer's size
        threads.max | text | | how many threads send
        threads.keepalivetime | text | | how long an idle thread lives
        user.agent.prefix | text | | how Hadoop calls itself
        """
    ),
    _S3_PREFIXES,
)

_AZURE_NAMES = acting(
    """
    account.key | text | | the account's key
    account.auth.type | text | | how requests are signed: SharedKey, SAS or OAuth
    account.oauth.provider.type | text | | who gives tokens for OAuth
    account.oauth2.client.endpoint | text | | where the tokens are asked for
    account.oauth2.client.id | text | | who asks for them
    account.oauth2.client.secret | text | | with which secret
    account.oauth2.msi.tenant | text | | of which tenant
    account.oauth2.token.file | text | | with which file of the pod
    endpoint | text | | the Blob endpoint, if it is not Azure's own
    sas.fixed.token | text | | a shared access signature
    """
)

_AZURE = (
    *_spelt(_AZURE_NAMES, _AZURE_PREFIXES),
    # With the host of an account, or its container and host, behind them.
    *(
        replace(each, key=f"{prefix}{each.key}.<account's host>")
        for each in _AZURE_NAMES
        for prefix in _AZURE_PREFIXES
    ),
    *(
        Option(
            key=f"{prefix}sas.<container>.<account's host>",
            value_type=value_type("text"),
            default=None,
            standing=Standing.ACTS,
            meaning="a shared access signature",
        )
        for prefix in _AZURE_PREFIXES
    ),
    *_spelt(
        acting("account.name | text | | the account of az:// locations, which name none"),
        _AZURE_PREFIXES,
    ),
)

STORES: tuple[Option, ...] = (*_S3, *_AZURE, *HADOOP_STORES)
