"""How is the place of a table or file spelled?

    /data/lake   data/lake   file:/data/lake   file:///data/lake   memory:/lake
    s3://bucket/lake   abfss://container@account.dfs.core.windows.net/lake   hdfs://host:8020/lake

The surprising thing: nothing is ever URL-decoded. Partition directories carry percent signs in
their names (`p=a%2Fb`), so `%` is a letter like any other, as are `?` and `#`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lakebed.errors import InvalidArgumentError, UnsupportedError

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(.*)", re.DOTALL)
_AUTHORITY = re.compile(r"//([^/]*)(/.*)?", re.DOTALL)
_SLASHES = re.compile(r"/{2,}")
_HERE: Final = ("file", "memory")
_AZURE_AUTHORITY: Final = "container@account.dfs.core.windows.net"
_AUTHORITIES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("s3", "s3a", "s3n"), "bucket"),
    **dict.fromkeys(("abfs", "abfss", "wasb", "wasbs"), _AZURE_AUTHORITY),
    **dict.fromkeys(("az", "azure"), "container"),
    **dict.fromkeys(("gs", "oss"), "bucket"),
    **dict.fromkeys(("hdfs", "viewfs"), "host"),
}
"""What stands behind the two slashes, by scheme."""
_OPTIONAL_AUTHORITY: Final = frozenset({"hdfs", "viewfs"})
"""Schemes whose settings name the host where the location does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """A parsed place.

    Attributes:
        scheme: `file`, `memory`, `s3` ..., in small letters.
        authority: The bucket, `container@account`, or `host:port`; empty where there is none.
        path: The absolute path within the store, without a slash at its end.
        text: The spelling that was given, less slashes at its end; a relative path made absolute.
    """

    scheme: str
    authority: str = ""
    path: str
    text: str


def parse_location(text: str) -> Location:
    """Takes a spelling apart.

    Raises:
        UnsupportedError: The scheme is of a store that Lakebed does not speak to.
        InvalidArgumentError: The text is no location.
    """
    if not text.strip() or "\0" in text:
        raise InvalidArgumentError(
            f"{text!r} is no location; give a path, or a URI such as file:///data/lake"
        )
    match = _SCHEME.fullmatch(text)
    if match is None:
        absolute = text if text.startswith("/") else f"{Path.cwd()}/{Path(text)}"
        return Location(scheme="file", path=_tidy(absolute), text=_trimmed(absolute))
    scheme, rest = match[1].lower(), match[2]
    if scheme in _HERE:
        return Location(scheme=scheme, path=_hostless_path(text, rest), text=_trimmed(text))
    if scheme not in _AUTHORITIES:
        raise UnsupportedError(
            f"{text!r}: no store for the scheme {scheme!r}; supported are "
            f"{', '.join(f'{name}:' for name in (*_HERE, *_AUTHORITIES))} and plain local paths "
            "(a local name with a colon is written as an absolute path)"
        )
    authority, path = _split_authority(text, rest, scheme)
    return Location(scheme=scheme, authority=authority, path=path, text=_trimmed(text))


def join(base: str, *names: str) -> str:
    """A path below `base`, in the spelling of `base`."""
    return "/".join((base.rstrip("/"), *names))


def _hostless_path(text: str, rest: str) -> str:
    if not rest.startswith("/") or re.match(r"//[^/]", rest):
        scheme = text.partition(":")[0]
        raise InvalidArgumentError(
            f"{text!r}: {scheme}: is followed by an absolute path and no host, "
            f"as in {scheme}:/data/lake or {scheme}:///data/lake"
        )
    return _tidy(rest)


def _split_authority(text: str, rest: str, scheme: str) -> tuple[str, str]:
    match = _AUTHORITY.fullmatch(rest)
    if match is not None and (match[1] or scheme in _OPTIONAL_AUTHORITY):
        return match[1], _tidy(match[2] or "/")
    if scheme in _OPTIONAL_AUTHORITY and rest.startswith("/"):
        return "", _tidy(rest)
    raise InvalidArgumentError(
        f"{text!r}: {scheme}: is followed by two slashes, the {_AUTHORITIES[scheme]} and an "
        f"absolute path, as in {scheme}://{_AUTHORITIES[scheme]}/lake"
    )


def _tidy(path: str) -> str:
    return _SLASHES.sub("/", path).rstrip("/") or "/"


def _trimmed(text: str) -> str:
    """Less slashes at the end, unless the whole path is one."""
    trimmed = text.rstrip("/")
    return f"{trimmed}/" if not trimmed or trimmed.endswith(":") else trimmed
