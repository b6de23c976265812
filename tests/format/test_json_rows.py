import bz2
from datetime import date
from decimal import Decimal

import pytest

from lakebed.errors import CorruptTableError, NotFoundError, UnsupportedError
from lakebed.format.arrow.types import to_arrow_schema
from lakebed.format.text.json import read_json
from lakebed.format.type_text import parse_type
from lakebed.format.types import ArrayType, DataField, DataType, MapType, RowType
from lakebed.storage.memory import MemoryFileIO

PATH = "memory:/t/data-1.json"
INT = parse_type("INT")


def fields_of(**kinds: str | DataType) -> list[DataField]:
    types = {n: parse_type(kind) if isinstance(kind, str) else kind for n, kind in kinds.items()}
    return [DataField(id=i, name=n, type=kind) for i, (n, kind) in enumerate(types.items())]


FIELDS = fields_of(
    i="INT NOT NULL",
    flag="BOOLEAN",
    d="DOUBLE",
    dec="DECIMAL(5, 2)",
    s="STRING",
    b="BYTES",
    day="DATE",
    list=ArrayType(element=INT),
    row=RowType(fields=tuple(fields_of(x="BIGINT", y=ArrayType(element=parse_type("DATE"))))),
)
ROWS = [
    {
        "i": 1,
        "flag": True,
        "d": 1.5,
        "dec": Decimal("1.25"),
        "s": "x",
        "b": b"\x00\xff",
        "day": date(2024, 2, 29),
        "list": [1, None],
        "row": {"x": 2**53 + 1, "y": [date(1970, 1, 1)]},
    },
    {**dict.fromkeys(field.name for field in FIELDS), "i": 2},
]
QUOTED = (
    '{"i":"1","flag":"true","d":"1.5","dec":"1.25","s":"x","b":"AP8=","day":"2024-02-29",'
    '"list":["1",null],"row":{"x":"9007199254740993","y":["1970-01-01"]},"more":[1]}\n{"i":"2"}\n'
)
PLAIN = (
    '{"i":1,"flag":true,"d":1.5,"dec":1.25,"s":"x","b":"AP8=","day":"2024-02-29",'
    '"list":[1,null],"row":{"x":9007199254740993,"y":["1970-01-01"]},"more":[1]}\n{"i":2}\n'
)


def stored(text: str | bytes, path: str = PATH) -> MemoryFileIO:
    store = MemoryFileIO()
    store.write(path, text if isinstance(text, bytes) else text.encode())
    return store


@pytest.mark.parametrize("text", [QUOTED, PLAIN], ids=["quoted", "plain"])
def test_values_are_read_in_quotes_and_plain(text: str) -> None:
    table = read_json(stored(text), PATH, fields=FIELDS, options={})
    assert table.schema == to_arrow_schema(FIELDS)
    assert table.to_pylist() == ROWS


def test_a_compressed_file_is_unpacked_by_its_extension() -> None:
    path = f"{PATH}.bz2"
    store = stored(bz2.compress(PLAIN.encode()), path)
    assert read_json(store, path, fields=FIELDS, options={}).to_pylist() == ROWS


def test_an_empty_file_has_no_rows() -> None:
    assert read_json(stored(" \n"), PATH, fields=FIELDS, options={}).num_rows == 0


BAD: dict[str, tuple[str, str]] = {
    "no object": ("[1]\n", "is not the JSON of the table"),
    "an unfinished object": ('{"i":1\n', "is not the JSON of the table"),
    "a number that does not fit": ('{"i":3000000000}\n', "is not the JSON of the table"),
    "a text that does not fit": ('{"i":"3000000000"}\n', "column 'i' has a text that is no INT"),
    "quoted and plain at once": ('{"i":1}\n{"i":"1"}\n', "is not the JSON of the table"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_the_columns_do_not_promise_is_an_error(case: str) -> None:
    text, problem = BAD[case]
    with pytest.raises(CorruptTableError, match=problem):
        read_json(stored(text), PATH, fields=fields_of(i="INT"), options={})


def test_what_is_not_read_is_refused_by_name() -> None:
    mapped = fields_of(m=MapType(key=parse_type("STRING NOT NULL"), value=INT))
    with pytest.raises(UnsupportedError, match="column 'm' is MAP"):
        read_json(stored("{}"), PATH, fields=mapped, options={})
    with pytest.raises(UnsupportedError, match="line-delimiter"):
        read_json(stored("{}"), PATH, fields=FIELDS, options={"json.line-delimiter": "|"})
    with pytest.raises(NotFoundError):
        read_json(MemoryFileIO(), PATH, fields=FIELDS, options={})
