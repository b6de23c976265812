import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakebed.errors import InvalidDataError, UnsupportedError
from lakebed.format.arrow.types import to_arrow_schema
from lakebed.format.data_file import read_file
from lakebed.format.data_file_write import (
    DataFileSettings,
    check_table_writable,
    check_writable,
)
from lakebed.format.type_text import parse_type
from lakebed.format.types import ArrayType, DataType, MapType, MultisetType, RowType
from lakebed.options.table_options import TableOptions
from support.columns import array_of
from support.typed_columns import CODECS, columns_of, fields_of, rows_of
from support.written_files import field, one_column, written

INT, STRING = parse_type("INT"), parse_type("STRING")
CELLS = [(file_format, codec) for file_format, codecs in CODECS.items() for codec in codecs]


@pytest.mark.parametrize(("file_format", "codec"), CELLS)
def test_every_type_is_read_as_it_was_written(file_format: str, codec: str) -> None:
    columns = columns_of(file_format)
    rows = rows_of(columns)
    store, path = written(
        rows, fields_of(columns), file_format, settings=DataFileSettings(compression=codec)
    )
    read = read_file(store, path, schema=rows.schema, row_count=rows.num_rows)
    read.validate(full=True)
    assert [n for n in rows.column_names if not read[n].equals(rows[n])] == []


@pytest.mark.parametrize("file_format", CODECS)
def test_a_file_without_rows_has_columns(file_format: str) -> None:
    columns = columns_of(file_format)
    rows = rows_of(columns).slice(0, 0)
    store, path = written(rows, fields_of(columns), file_format)
    assert read_file(store, path, schema=rows.schema, row_count=0).equals(rows)


@pytest.mark.parametrize("file_format", CODECS)
def test_a_null_where_there_must_be_none_is_refused(file_format: str) -> None:
    rows, fields = one_column(parse_type("INT"), [1, None])
    required = [field("c", parse_type("INT NOT NULL"))]
    with pytest.raises(InvalidDataError, match=r"c.*null"):
        written(rows, required, file_format)
    assert written(rows, fields, file_format)


def test_formats_without_a_writer_are_refused_by_name() -> None:
    with pytest.raises(UnsupportedError, match=r"'csv' cannot be written, only avro, orc, parquet"):
        check_writable([field("c", INT)], "csv", DataFileSettings())


@pytest.mark.parametrize(
    ("file_format", "codec"),
    [
        ("parquet", "zlib"),
        ("parquet", "brotli"),
        ("parquet", "lzo"),
        ("orc", "gzip"),
        ("orc", "lzo"),
        ("avro", "none"),
        ("avro", "lz4"),
        ("avro", ""),
    ],
)
def test_codecs_that_a_format_lacks_are_refused_by_name(file_format: str, codec: str) -> None:
    with pytest.raises(UnsupportedError, match=f"compression.*'{codec}'"):
        check_writable([field("c", INT)], file_format, DataFileSettings(compression=codec))
    with pytest.raises(UnsupportedError, match=f"compression.*'{codec}'"):
        written(*one_column(INT, [1]), file_format, settings=DataFileSettings(compression=codec))


UNWRITABLE: list[tuple[str, str, DataType]] = [
    ("parquet", "BLOB", parse_type("BLOB")),
    ("avro", "VARIANT", ArrayType(element=parse_type("VARIANT"))),
    ("avro", r"TIMESTAMP\(7\)", parse_type("TIMESTAMP(7)")),
    ("avro", r"TIME\(4\)", parse_type("TIME(4)")),
    ("avro", "MULTISET<INT", MultisetType(element=parse_type("INT NOT NULL"))),
    ("avro", "without fields", RowType(fields=())),
    ("orc", "VARIANT", MapType(key=parse_type("INT NOT NULL"), value=parse_type("VARIANT"))),
    ("orc", "MULTISET<STRING", MultisetType(element=parse_type("STRING NOT NULL"))),
]


@pytest.mark.parametrize(("file_format", "words", "kind"), UNWRITABLE)
def test_types_that_a_format_lacks_are_refused_by_column(
    file_format: str, words: str, kind: DataType
) -> None:
    with pytest.raises(UnsupportedError, match=f"column 'wrong'.*{words}"):
        check_writable(
            [field("c", INT), field("wrong", kind, number=1)], file_format, DataFileSettings()
        )


def test_a_table_is_refused_for_the_format_of_any_level() -> None:
    nano = [field("nano", parse_type("TIMESTAMP(9)"))]
    given = {"file.format": "parquet", "file.compression": "none"}
    check_table_writable(nano, TableOptions.parse(given, has_primary_key=True))
    per_level = TableOptions.parse(
        given | {"file.format.per.level": "5:avro"}, has_primary_key=True
    )
    with pytest.raises(UnsupportedError, match="compression 'none'"):
        check_table_writable(nano, per_level)
    packed = given | {"file.format.per.level": "5:avro", "file.compression.per.level.5": "zstd"}
    with pytest.raises(UnsupportedError, match=r"'nano': TIMESTAMP\(9\)"):
        check_table_writable(nano, TableOptions.parse(packed, has_primary_key=True))


LEAVES = st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1))
NESTED_VALUES = st.lists(
    st.one_of(
        st.none(),
        st.lists(
            st.one_of(
                st.none(),
                st.fixed_dictionaries(
                    {
                        "n": LEAVES,
                        "m": st.one_of(
                            st.none(), st.dictionaries(st.text(max_size=3), LEAVES, max_size=3)
                        ),
                        "s": st.one_of(st.none(), st.text(max_size=4)),
                    }
                ),
            ),
            max_size=4,
        ),
    ),
    min_size=2,
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(NESTED_VALUES, st.integers(0, 2))
def test_any_nesting_of_nulls_and_empty_lists_survives(values: list[object], start: int) -> None:
    kind = ArrayType(
        element=RowType(
            fields=(
                field("n", parse_type("BIGINT"), number=1),
                field(
                    "m",
                    MapType(key=parse_type("STRING NOT NULL"), value=parse_type("BIGINT")),
                    number=2,
                ),
                field("s", STRING, number=3),
            )
        )
    )
    fields = [field("c", kind)]
    schema = to_arrow_schema(fields)
    column = array_of([_paired(value) for value in values], schema.field(0).type)
    rows = pa.table([column], schema=schema).slice(start)
    for file_format in CODECS:
        store, path = written(rows, fields, file_format)
        assert read_file(store, path, schema=schema, row_count=rows.num_rows).equals(rows)


def _paired(lists: object) -> object:
    if not isinstance(lists, list):
        return None
    return [
        each and {**each, "m": None if each["m"] is None else list(each["m"].items())}
        for each in lists
    ]


def test_settings_are_what_the_options_say() -> None:
    given = {
        "file.compression": "snappy",
        "file.compression.per.level": "0:null",
        "file.format.per.level.0": "AVRO",
        "file.compression.zstd-level": "5",
        "parquet.compression.codec.zstd.level": "7",
        "parquet.block.size": "1000",
        "parquet.page.size": "10",
        "parquet.enable.dictionary": "false",
        "orc.timestamp-ltz.legacy.type": "false",
    }
    options = TableOptions.parse(given, has_primary_key=True)
    assert [options.format_of_level(level) for level in (None, 0, 5)] == [
        "parquet",
        "avro",
        "parquet",
    ]
    parquet = DataFileSettings.of(options, "parquet", level=5)
    assert (parquet.compression, parquet.zstd_level, parquet.block_bytes) == ("snappy", 7, 1000)
    assert (parquet.page_bytes, parquet.dictionary, parquet.is_ltz_legacy) == (10, False, False)
    avro = DataFileSettings.of(options, "avro", level=0)
    assert (avro.compression, avro.zstd_level, avro.block_bytes) == ("null", 5, None)
    size = TableOptions.parse(given | {"file.block-size": "1 kb"}, has_primary_key=True)
    assert DataFileSettings.of(size, "parquet").block_bytes == 1024
