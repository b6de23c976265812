"""A bucket of Aliyun's OSS, as its documentation has it, kept in this process and served over HTTP.

It checks no signature. It proves that the right requests are sent and their answers understood, not
what the real service does.
"""

import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from time import gmtime, strftime, time
from typing import Final
from urllib.parse import parse_qs, quote, unquote, urlsplit
from xml.etree import ElementTree as ET

FORBID: Final = "x-oss-forbid-overwrite"
_PAGE: Final = 100


class RefusalError(Exception):
    """An answer that is an error, with OSS's code."""

    def __init__(self, status: int, code: str) -> None:
        self.status = status
        self.code = code
        super().__init__(code)


@dataclass
class OssServer:
    """One bucket.

    Attributes:
        endpoint: Where it listens.
        name: The bucket's.
        has_versions: Whether it keeps, or once kept, versions.
        faults: Statuses that the next puts are answered with; each is carried out all the same if
            it is 0, and the connection then closed without an answer.
        requests: Method, query and header `x-oss-forbid-overwrite` of each request.
    """

    endpoint: str
    name: str = "bucket"
    has_versions: bool = False
    faults: list[int] = field(default_factory=list)
    requests: list[tuple[str, str, str | None]] = field(default_factory=list)
    objects: dict[str, tuple[bytes, float]] = field(default_factory=dict)
    uploads: dict[str, dict[int, bytes]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    numbers: Iterator[int] = field(default_factory=count)

    def put(self, key: str, data: bytes, forbid: str | None) -> None:
        """Keeps an object; of a bucket without versions, `forbid` is heeded."""
        if forbid == "true" and key in self.objects and not self.has_versions:
            raise RefusalError(409, "FileAlreadyExists")
        self.objects[key] = (data, time())

    def get(self, key: str) -> tuple[bytes, float]:
        """An object and when it was put."""
        if key not in self.objects:
            raise RefusalError(404, "NoSuchKey")
        return self.objects[key]

    def list(self, prefix: str, *, delimiter: str, after: str) -> str:
        """A page of ListObjectsV2."""
        names: dict[str, str] = {}
        for key in sorted(each for each in self.objects if each.startswith(prefix)):
            head, found, _ = key.removeprefix(prefix).partition(delimiter or "\0")
            name = prefix + head + found if found else key
            names[name] = "prefix" if found else "key"
        rest = [name for name in names if name > after]
        page, is_cut = rest[:_PAGE], len(rest) > _PAGE
        entries = "".join(
            f"<CommonPrefixes><Prefix>{quote(name)}</Prefix></CommonPrefixes>"
            if names[name] == "prefix"
            else f"<Contents><Key>{quote(name)}</Key><Size>{len(self.objects[name][0])}</Size>"
            f"<LastModified>{_iso(self.objects[name][1])}</LastModified></Contents>"
            for name in page
        )
        token = (
            f"<NextContinuationToken>{quote(page[-1])}</NextContinuationToken>" if is_cut else ""
        )
        return (
            "<ListBucketResult><EncodingType>url</EncodingType>"
            f"<IsTruncated>{str(is_cut).lower()}</IsTruncated>{token}{entries}</ListBucketResult>"
        )


@contextmanager
def oss_server() -> Iterator[OssServer]:
    """A bucket that is served while the block runs."""
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    httpd.daemon_threads = True
    server = OssServer(endpoint=f"http://127.0.0.1:{httpd.server_port}")
    _SERVED[httpd.server_port] = server
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        httpd.shutdown()
        thread.join()
        httpd.server_close()


_SERVED: dict[int, OssServer] = {}


def _iso(seconds: float) -> str:
    return strftime("%Y-%m-%dT%H:%M:%S.000Z", gmtime(seconds))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Nothing."""

    def _serve(self) -> None:
        assert isinstance(self.server, ThreadingHTTPServer)
        server = _SERVED[self.server.server_port]
        parts = urlsplit(self.path)
        self.bucket, _, self.key = unquote(parts.path).lstrip("/").partition("/")
        self.query = {
            name: values[0]
            for name, values in parse_qs(parts.query, keep_blank_values=True).items()
        }
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        server.requests.append((self.command, parts.query, self.headers.get(FORBID)))
        fault = server.faults.pop(0) if self.command == "PUT" and server.faults else None
        try:
            with server.lock:
                status, headers, content = self._answer(server, body, fault)
        except RefusalError as refusal:
            status, headers = refusal.status, {}
            content = f"<Error><Code>{refusal.code}</Code><Message>.</Message></Error>".encode()
        if fault == 0:
            self.close_connection = True
            return
        if status >= HTTPStatus.BAD_REQUEST and self.command == "HEAD":
            headers, content = {"x-oss-err": b64encode(content).decode()}, b""
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _serve  # noqa: N815

    def _answer(
        self, server: OssServer, body: bytes, fault: int | None
    ) -> tuple[int, dict[str, str], bytes]:
        if fault:
            raise RefusalError(fault, "InternalError")
        if self.bucket != server.name:
            raise RefusalError(404, "NoSuchBucket")
        match self.command:
            case "PUT":
                return self._put(server, body)
            case "POST":
                return self._post(server, body)
            case "DELETE":
                server.uploads.pop(self.query.get("uploadId", ""), None)
                if "uploadId" not in self.query:
                    server.objects.pop(self.key, None)
                return 204, {}, b""
            case _:
                return self._get(server)

    def _put(self, server: OssServer, body: bytes) -> tuple[int, dict[str, str], bytes]:
        if "uploadId" in self.query:
            server.uploads[self.query["uploadId"]][int(self.query["partNumber"])] = body
            return 200, {"ETag": f'"{self.query["partNumber"]}"'}, b""
        source = self.headers.get("x-oss-copy-source")
        if source is not None:
            copied = server.get(unquote(source).lstrip("/").partition("/")[2])[0]
            server.put(self.key, copied, self.headers.get(FORBID))
            return 200, {}, b"<CopyObjectResult/>"
        server.put(self.key, body, self.headers.get(FORBID))
        return 200, {}, b""

    def _post(self, server: OssServer, body: bytes) -> tuple[int, dict[str, str], bytes]:
        if "uploads" in self.query:
            name = str(next(server.numbers))
            server.uploads[name] = {}
            text = f"<UploadId>{name}</UploadId>"
            return (
                200,
                {},
                f"<InitiateMultipartUploadResult>{text}</InitiateMultipartUploadResult>".encode(),
            )
        root = ET.fromstring(body)
        if "delete" in self.query:
            for key in root.iter("Key"):
                server.objects.pop(key.text or "", None)
            return 200, {}, b""
        parts = server.uploads[self.query["uploadId"]]
        numbers = [int(number.text or 0) for number in root.iter("PartNumber")]
        server.put(
            self.key, b"".join(parts[number] for number in numbers), self.headers.get(FORBID)
        )
        del server.uploads[self.query["uploadId"]]
        return 200, {}, b"<CompleteMultipartUploadResult/>"

    def _get(self, server: OssServer) -> tuple[int, dict[str, str], bytes]:
        if not self.key:
            after = self.query.get("continuation-token", "")
            delimiter = self.query.get("delimiter", "")
            page = server.list(self.query.get("prefix", ""), delimiter=delimiter, after=after)
            return 200, {}, page.encode()
        data, modified = server.get(self.key)
        headers = {"Last-Modified": formatdate(modified, usegmt=True)}
        asked = self.headers.get("Range")
        if asked is None:
            return 200, {**headers, "Content-Length": str(len(data))}, data
        first, _, last = asked.removeprefix("bytes=").partition("-")
        start = int(first) if first else max(len(data) - int(last), 0)
        stop = min(int(last) + 1, len(data)) if first and last else len(data)
        if start >= len(data):
            # Without `standard` behaviour a range beyond the end is no range at all.
            if self.headers.get("x-oss-range-behavior") != "standard":
                return 200, headers, data
            raise RefusalError(416, "InvalidRange")
        within = {"Content-Range": f"bytes {start}-{stop - 1}/{len(data)}"}
        return 206, {**headers, **within}, data[start:stop]
