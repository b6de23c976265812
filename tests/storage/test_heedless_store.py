"""A store that speaks as S3 does and heeds no `If-None-Match` takes commits of one writer alone."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from lakebed.errors import StorageError
from lakebed.storage.file_io import FileIO, PutResult
from lakebed.storage.location import SINGLE_WRITER, file_io_for

PATH = "s3://lake/t/snapshot/snapshot-1"


class Heedless(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    puts: list[str]
    tokens: list[str | None]

    def log_message(self, *_: object) -> None:
        """Says nothing."""

    def do_PUT(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.puts.append(self.path)
        self.tokens.append(self.headers["x-amz-security-token"])
        self._answer()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(b"<DeleteResult></DeleteResult>")

    def _answer(self, data: bytes = b"") -> None:
        self.send_response_only(200)
        self.send_header("ETag", '"1"')
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture
def puts() -> list[str]:
    return []


@pytest.fixture
def tokens() -> list[str | None]:
    return []


@pytest.fixture
def options(puts: list[str], tokens: list[str | None]) -> Iterator[dict[str, str]]:
    handler = type("Handler", (Heedless,), {"puts": puts, "tokens": tokens})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    endpoint = f"http://127.0.0.1:{server.server_address[1]}"
    yield {"s3.endpoint": endpoint, "s3.access-key": "k", "s3.secret-key": "s"}
    server.shutdown()
    server.server_close()


def test_a_commit_is_refused_before_anything_is_written(
    options: dict[str, str], puts: list[str]
) -> None:
    file_io: FileIO = file_io_for("s3://lake", options)
    with pytest.raises(StorageError, match=f"does not heed If-None-Match.*{SINGLE_WRITER}=true"):
        file_io.put_if_absent(PATH, b"x")
    assert len(puts) == 2
    assert all(".lakebed-probe." in path for path in puts)


def test_a_single_writer_may_commit(options: dict[str, str], puts: list[str]) -> None:
    file_io = file_io_for("s3://lake", options | {SINGLE_WRITER: "true"})
    assert file_io.put_if_absent(PATH, b"x") is PutResult.WRITTEN
    assert puts == ["/lake/t/snapshot/snapshot-1"]


@pytest.mark.parametrize("token", [None, "mine"])
def test_a_token_of_the_environment_does_not_go_with_keys_of_the_options(
    options: dict[str, str],
    tokens: list[str | None],
    monkeypatch: pytest.MonkeyPatch,
    *,
    token: str | None,
) -> None:
    monkeypatch.setenv("AWS_SESSION_TOKEN", "of other keys")
    given = options | ({} if token is None else {"s3.session.token": token})
    file_io_for("s3://lake", given).write(PATH, b"x")
    assert tokens == [token]
