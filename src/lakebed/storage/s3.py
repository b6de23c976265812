"""What do a catalog's options say of S3, or of a store that speaks like it?

Options have Paimon's names, which are Hadoop's with another beginning: `s3.access-key`,
`s3a.access-key` and `fs.s3a.access.key` are one. What they leave open is taken from the
environment (`AWS_ACCESS_KEY_ID`, `AWS_REGION` ...), the machine's role, or the pod's.

The surprising thing: a bucket is part of the host's name (`bucket.s3.example.com`), as for Hadoop,
unless `s3.path.style.access` is true or the host is an address or `localhost`, which have no names
below them.
"""

import ipaddress
import os
import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from lakebed.errors import InvalidArgumentError, UnsupportedError
from lakebed.storage.object_store import ObjectStoreFileIO
from lakebed.storage.obstore_bucket import ObstoreBucket
from lakebed.storage.obstore_client import ClientKind, ClientSettings
from lakebed.storage.store_options import SINGLE_WRITER, find_option, flag
from lakebed.storage.uri import Location

_SCHEMES: Final = ("s3", "s3a", "s3n")
_PREFIXES: Final = ("s3.", "s3a.", "fs.s3a.")
_AMAZON: Final = re.compile(r"s3[.-](?:dualstack\.)?([a-z]{2}(?:-[a-z]+)+-\d+)\.amazonaws\.com.*")
_DEFAULT_REGION: Final = "us-east-1"
_ENDPOINT_VARIABLES: Final = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
_REGION_VARIABLES: Final = ("AWS_REGION", "AWS_DEFAULT_REGION")
_ANONYMOUS: Final = "AnonymousAWSCredentialsProvider"
_CHAIN: Final = frozenset(
    {
        *("SimpleAWSCredentialsProvider", "TemporaryAWSCredentialsProvider"),
        *("EnvironmentVariableCredentialsProvider", "IAMInstanceCredentialsProvider"),
        *("WebIdentityTokenCredentialsProvider", "WebIdentityTokenFileCredentialsProvider"),
        *("DefaultCredentialsProvider", "DefaultAWSCredentialsProviderChain"),
        *("InstanceProfileCredentialsProvider", "ContainerCredentialsProvider"),
    }
)
"""Providers, by the last part of their names, that the usual order tries in any case."""
_ENCRYPTIONS: Final[Mapping[str, str]] = {
    "AES256": "AES256",
    "SSE-KMS": "aws:kms",
    "DSSE-KMS": "aws:kms:dsse",
}


def open_store(location: Location, options: Mapping[str, str]) -> ObjectStoreFileIO:
    """The bucket of a location.

    Raises:
        InvalidArgumentError: An option's value cannot be, or half of a key is missing.
        UnsupportedError: A way of signing in or of encryption that Lakebed lacks.
    """
    return ObjectStoreFileIO(
        bucket=ObstoreBucket(
            settings=client_settings(location.authority, options),
            single_writer=flag(options, [SINGLE_WRITER], default=False),
        ),
        schemes=_SCHEMES,
        authority=location.authority,
    )


def client_settings(bucket: str, options: Mapping[str, str]) -> ClientSettings:
    """What the client of a bucket is made of."""
    values = {
        **_addressing(bucket, options),
        **_credentials(options),
        **_encryption(options),
        "request_payer": str(_flag(options, "requester.pays.enabled", default=False)).lower(),
    }
    endpoint = values.get("endpoint", "")
    return ClientSettings(
        kind=ClientKind.S3,
        container=bucket,
        values=tuple(sorted(values.items())),
        allows_http=endpoint.startswith("http://"),
    )


def _find(options: Mapping[str, str], *names: str) -> str | None:
    return find_option(options, [prefix + name for name in names for prefix in _PREFIXES])


def _flag(options: Mapping[str, str], *names: str, default: bool) -> bool:
    keys = [prefix + name for name in names for prefix in _PREFIXES]
    return flag(options, keys, default=default)


def _addressing(bucket: str, options: Mapping[str, str]) -> dict[str, str]:
    """Endpoint, region and whether the bucket is a part of the host's name."""
    given = _find(options, "endpoint") or _from_environment(_ENDPOINT_VARIABLES)
    region = _find(options, "endpoint.region", "region") or _from_environment(_REGION_VARIABLES)
    if given is None:
        in_path = _flag(options, "path.style.access", "path-style-access", default=True)
        return {
            "region": region or _DEFAULT_REGION,
            "virtual_hosted_style_request": str(not in_path).lower(),
        }
    is_encrypted = _flag(options, "connection.ssl.enabled", default=True)
    endpoint = given if "://" in given else f"{'https' if is_encrypted else 'http'}://{given}"
    parts = urlsplit(endpoint)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise InvalidArgumentError(f"option s3.endpoint is no host or http(s) URL: {given!r}")
    amazon = _AMAZON.fullmatch(parts.hostname)
    in_path = _flag(
        options,
        "path.style.access",
        "path-style-access",
        default=amazon is not None or _has_no_names_below(parts.hostname),
    )
    plain = endpoint.rstrip("/")
    return {
        "region": region or (amazon[1] if amazon else _DEFAULT_REGION),
        "endpoint": plain if in_path else plain.replace("://", f"://{bucket}.", 1),
        "virtual_hosted_style_request": str(not in_path).lower(),
    }


def _has_no_names_below(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    return True


def _credentials(options: Mapping[str, str]) -> dict[str, str]:
    provider = _find(options, "aws.credentials.provider")
    names = [each.strip().rpartition(".")[2] for each in (provider or "").split(",")]
    if _ANONYMOUS in names:
        return {"skip_signature": "true"}
    if unknown := [name for name in names if name and name not in _CHAIN]:
        raise UnsupportedError(
            f"option fs.s3a.aws.credentials.provider: {unknown[0]} is not supported; leave it out "
            "to take keys from the options, the environment, or the role of the machine or pod"
        )
    key = _find(options, "access-key", "access.key")
    secret = _find(options, "secret-key", "secret.key")
    token = _find(options, "session.token", "session-token")
    if (key is None) != (secret is None):
        raise InvalidArgumentError(
            f"option s3.{'access' if key is None else 'secret'}-key is missing beside the other; "
            "give both, or none to take them from the environment"
        )
    if key is None or secret is None:
        return {}
    found = {"access_key_id": key, "secret_access_key": secret}
    return found | ({"session_token": token} if token else {})


def _encryption(options: Mapping[str, str]) -> dict[str, str]:
    algorithm = _find(options, "encryption.algorithm", "server-side-encryption-algorithm")
    key = _find(options, "encryption.key", "server-side-encryption.key")
    if not algorithm:
        return {}
    if algorithm not in _ENCRYPTIONS:
        raise UnsupportedError(
            f"option fs.s3a.encryption.algorithm={algorithm!r} is not supported; "
            f"there are {', '.join(_ENCRYPTIONS)}"
        )
    found = {"server_side_encryption": _ENCRYPTIONS[algorithm]}
    return found | ({"sse_kms_key_id": key} if key else {})


def _from_environment(names: tuple[str, ...]) -> str | None:
    return next((os.environ[name] for name in names if os.environ.get(name)), None)
