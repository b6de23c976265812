"""What the errors of obstore are read as; the texts are its own, of real answers."""

import pytest
from obstore.exceptions import AlreadyExistsError, BaseError, GenericError, PermissionDeniedError

from lakebed.storage.bucket import RequestError
from lakebed.storage.obstore_errors import is_beyond_the_end, request_errors

ANSWER = "Error performing PUT http://h/k in 9ms - Server returned non-2xx status code: "
TRANSPORT = "Error performing PUT http://h/k in 9ms - HTTP error: error sending request\n\nDebug:\n"


def reset(kind: str) -> str:
    return f'{TRANSPORT}Http(\n HttpError {{\n kind: {kind},\n \n    "Connection refused",\n'


@pytest.mark.parametrize(
    ("error", "flags"),
    [
        (FileNotFoundError(f"{ANSWER}404 Not Found: "), "missing"),
        (AlreadyExistsError(f"{ANSWER}412 Precondition Failed: <Code>x</Code>"), "present"),
        (AlreadyExistsError(f"{ANSWER}409 Conflict: "), "present"),
        (AlreadyExistsError(f"{ANSWER}409 Conflict: <Code>BlobAlreadyExists</Code>"), "present"),
        (AlreadyExistsError(f"{ANSWER}409 Conflict: <Code>LeaseIdMissing</Code>"), ""),
        (
            AlreadyExistsError(f"{ANSWER}409 Conflict: <Code>ConditionalRequestConflict</Code>"),
            "retryable",
        ),
        (PermissionDeniedError(f"{ANSWER}403 Forbidden: "), ""),
        (GenericError(f"{ANSWER}403 Forbidden: <Code>SignatureDoesNotMatch</Code>"), ""),
        (GenericError(f"{ANSWER}400 Bad Request: "), ""),
        (GenericError(f"{ANSWER}429 Too Many Requests: "), "retryable"),
        (GenericError(f"{ANSWER}500 Internal Server Error: "), "doubtful retryable"),
        (GenericError(f"{ANSWER}503 Slow Down: "), "doubtful retryable"),
        (GenericError(reset("Connect")), "retryable"),
        (GenericError(reset("Request")), "doubtful retryable"),
        (GenericError(reset("Timeout")), "doubtful retryable"),
        (GenericError(reset("Interrupted")), "doubtful retryable"),
        (GenericError(reset("Unknown")), "doubtful retryable"),
        (GenericError("Generic S3 error: what nobody has seen"), "doubtful"),
        (OSError("closed"), "doubtful"),
    ],
)
def test_errors_say_what_became_of_the_request(error: BaseError | OSError, flags: str) -> None:
    with pytest.raises(RequestError) as caught, request_errors():
        raise error
    found = caught.value
    told = {
        "doubtful": found.is_doubtful,
        "missing": found.is_missing,
        "present": found.is_present,
        "retryable": found.is_retryable,
    }
    assert " ".join(name for name, holds in told.items() if holds) == flags
    assert found.__cause__ is None


def test_meanings_tell_what_the_store_said_and_no_more() -> None:
    answer = f"{ANSWER}400 Bad Request: <Code>A</Code><Message>b c</Message><Key>SECRET</Key>"
    for error, meaning in (
        (GenericError(answer), "the store answered 400, A: b c"),
        (GenericError(reset("Connect")), "no connection: Connection refused"),
    ):
        with pytest.raises(RequestError) as caught, request_errors():
            raise error
        assert str(caught.value) == meaning


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{ANSWER}416 Range Not Satisfiable", True),
        ("Wanted range starting at 10, but object was only 10 bytes long", True),
        (f"{ANSWER}404 Not Found", False),
    ],
)
def test_a_range_beyond_the_end_is_known(text: str, *, expected: bool) -> None:
    assert is_beyond_the_end(GenericError(text)) == expected
