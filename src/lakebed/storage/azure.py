"""What do a catalog's options say of Azure's storage?

Options have Hadoop's names, `fs.azure.*`, with or without the account's host behind them; Paimon
also takes `azure.*` for them. What they leave open is taken from the environment
(`AZURE_STORAGE_ACCOUNT_KEY`, `AZURE_CLIENT_ID` ...) or the machine's identity.

The surprising thing: `abfss:` means Azure's Data Lake endpoint (`account.dfs.core.windows.net`),
and requests go to the Blob endpoint of the same account, which has the same files and, alone of
the two, puts on a condition in one request.
"""

import os
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from lakebed.errors import InvalidArgumentError, UnsupportedError
from lakebed.storage.object_store import ObjectStoreFileIO
from lakebed.storage.obstore_bucket import ObstoreBucket
from lakebed.storage.obstore_client import ClientKind, ClientSettings
from lakebed.storage.store_options import SINGLE_WRITER, find_option, flag
from lakebed.storage.uri import Location

_PREFIXES: Final = ("fs.azure.", "azure.", "fs.wasb.")
_SCHEMES: Final = ("abfss", "abfs", "wasbs", "wasb", "az", "azure")
_ACCOUNT_VARIABLE: Final = "AZURE_STORAGE_ACCOUNT_NAME"
_ENDPOINT_VARIABLES: Final = ("AZURE_STORAGE_ENDPOINT", "AZURE_ENDPOINT")
_SERVICES: Final = ("dfs", "blob")
_PUBLIC_CLOUD: Final = "core.windows.net"

_KINDS: Final = "SharedKey, SAS and OAuth"
_PROVIDERS: Final = "ClientCredsTokenProvider, MsiTokenProvider and WorkloadIdentityTokenProvider"


class _Account:
    """The options of one account: those that name its host come before those that do not."""

    def __init__(self, location: Location, options: Mapping[str, str]) -> None:
        container, at, host = location.authority.partition("@")
        self.container, self.name, self.cloud = container, "", _PUBLIC_CLOUD
        self._options = options
        if at:
            self.name, _, rest = host.partition(".")
            service, _, self.cloud = rest.partition(".")
            if not container or not self.name or service not in _SERVICES or not self.cloud:
                raise InvalidArgumentError(
                    f"{location.text}: {location.authority!r} is not of the form "
                    f"container@account.dfs.{_PUBLIC_CLOUD}"
                )
        else:
            self.name = self.find("account.name") or os.environ.get(_ACCOUNT_VARIABLE, "")
            if not self.name:
                raise InvalidArgumentError(
                    f"{location.text}: no account; write {location.scheme}://{container}@"
                    f"account.dfs.{_PUBLIC_CLOUD}/..., or set {_ACCOUNT_VARIABLE}"
                )

    def find(self, name: str) -> str | None:
        """The value of an option of this account."""
        hosts = [f".{self.name}.{each}.{self.cloud}" for each in _SERVICES] if self.name else []
        own = [prefix + name + host for host in hosts for prefix in _PREFIXES]
        value = find_option(self._options, own)
        if value is not None:
            return value
        return find_option(self._options, [prefix + name for prefix in _PREFIXES])

    def need(self, name: str, *, because: str) -> str:
        """The value of an option that another one makes needful."""
        value = self.find(name)
        if value is None:
            raise InvalidArgumentError(f"option fs.azure.{name} is missing; {because} needs it")
        return value


def open_store(location: Location, options: Mapping[str, str]) -> ObjectStoreFileIO:
    """The container of a location.

    Raises:
        InvalidArgumentError: No account is named, or an option is missing beside another.
        UnsupportedError: A way of signing in that Lakebed lacks.
    """
    return ObjectStoreFileIO(
        bucket=ObstoreBucket(
            settings=client_settings(location, options),
            single_writer=flag(options, [SINGLE_WRITER], default=False),
        ),
        schemes=_SCHEMES,
        authority=location.authority,
    )


def client_settings(location: Location, options: Mapping[str, str]) -> ClientSettings:
    """What the client of a container is made of."""
    account = _Account(location, options)
    endpoint = account.find("endpoint") or next(
        (os.environ[name] for name in _ENDPOINT_VARIABLES if os.environ.get(name)),
        f"https://{account.name}.blob.{account.cloud}",
    )
    values = {"account_name": account.name, "endpoint": endpoint, **_credentials(account)}
    return ClientSettings(
        kind=ClientKind.AZURE,
        container=account.container,
        values=tuple(sorted(values.items())),
        allows_http=endpoint.startswith("http://"),
    )


def _credentials(account: _Account) -> dict[str, str]:
    """What signs the requests; empty to take it from the environment."""
    key = account.find("account.key")
    sas = account.find("sas.fixed.token") or account.find(f"sas.{account.container}")
    kind = account.find("account.auth.type")
    if kind is None:
        kind = "SharedKey" if key else "SAS" if sas else None
    match kind:
        case None:
            return {}
        case "SharedKey":
            key = account.need("account.key", because=f"account.auth.type={kind}")
            return {"account_key": key, "credential_type": "access_key"}
        case "SAS":
            sas = sas or account.need("sas.fixed.token", because=f"account.auth.type={kind}")
            return {"sas_key": sas.lstrip("?"), "credential_type": "sas_token"}
        case "OAuth":
            return _oauth(account)
        case _:
            raise UnsupportedError(
                f"option fs.azure.account.auth.type={kind!r} is not supported; there are {_KINDS}"
            )


def _oauth(account: _Account) -> dict[str, str]:
    name = account.need("account.oauth.provider.type", because="account.auth.type=OAuth")
    provider = name.rpartition(".")[2]
    client = account.find("account.oauth2.client.id")
    match provider:
        case "ClientCredsTokenProvider":
            authority, tenant = _token_endpoint(account, provider)
            return {
                "credential_type": "client_secret",
                "client_id": account.need("account.oauth2.client.id", because=provider),
                "client_secret": account.need("account.oauth2.client.secret", because=provider),
                "authority_host": authority,
                "tenant_id": tenant,
            }
        case "MsiTokenProvider":
            return {"credential_type": "managed_identity"} | (
                {"client_id": client} if client else {}
            )
        case "WorkloadIdentityTokenProvider":
            found = {
                "client_id": client,
                "tenant_id": account.find("account.oauth2.msi.tenant"),
                "federated_token_file": account.find("account.oauth2.token.file"),
            }
            given = {name: value for name, value in found.items() if value is not None}
            return {"credential_type": "workload_identity", **given}
        case _:
            raise UnsupportedError(
                f"option fs.azure.account.oauth.provider.type={name!r} is not supported; "
                f"there are {_PROVIDERS}"
            )


def _token_endpoint(account: _Account, provider: str) -> tuple[str, str]:
    """Host and tenant of `https://login.microsoftonline.com/<tenant>/oauth2/token`."""
    endpoint = account.need("account.oauth2.client.endpoint", because=provider)
    parts = urlsplit(endpoint)
    tenant = parts.path.strip("/").partition("/")[0]
    if parts.scheme != "https" or not parts.hostname or not tenant:
        raise InvalidArgumentError(
            f"option fs.azure.account.oauth2.client.endpoint={endpoint!r} is not of the form "
            "https://login.microsoftonline.com/<tenant>/oauth2/token"
        )
    return f"https://{parts.netloc}", tenant
