"""What the manifests of the golden tables say, read without the code under test."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import fastavro

from lakebed.format.types import MAX_LENGTH, AtomicType, DataField, DataType, RowType, TypeRoot

DATABASE = Path(__file__).parents[1] / "golden" / "warehouse" / "db.db"
_TYPE = re.compile(r"(?P<root>[A-Z]+)(\((?P<first>\d+)(, *(?P<second>\d+))?\))?(?P<zone> WITH.*)?")
_LENGTHS = {"STRING": ("VARCHAR", MAX_LENGTH), "BYTES": ("VARBINARY", MAX_LENGTH)}


@dataclass(frozen=True)
class GoldenTable:
    """One table as the real engine left it."""

    name: str

    @property
    def path(self) -> Path:
        return DATABASE / self.name

    def schema(self, schema_id: int) -> dict[str, Any]:
        text = (self.path / "schema" / f"schema-{schema_id}").read_text(encoding="utf-8")
        schema: dict[str, Any] = json.loads(text)
        return schema

    def fields(self, schema_id: int) -> list[DataField]:
        """The fields; a nested type is a ROW without fields, since its inside does not matter."""
        return [
            DataField(id=field["id"], name=field["name"], type=parse_type(field["type"]))
            for field in self.schema(schema_id)["fields"]
        ]

    def entries(self) -> Iterator[dict[str, Any]]:
        """Every entry of every manifest, live or not."""
        for path in sorted((self.path / "manifest").glob("manifest-*")):
            if not path.name.startswith("manifest-list-"):
                with path.open("rb") as stream:
                    yield from cast("Iterator[dict[str, Any]]", fastavro.reader(stream))

    def data_file(self, file_name: str) -> Path | None:
        """Where a file is, unless the table has dropped it since."""
        return next(self.path.rglob(file_name), None)


def golden_names() -> list[str]:
    """Every golden table."""
    return sorted(path.name for path in DATABASE.iterdir())


def parse_type(text: str | dict[str, Any]) -> DataType:
    """The type that a schema file writes, as far as keys and bounds need it."""
    found = _TYPE.match(text) if isinstance(text, str) else None
    if found is None or found["root"] in {"VARIANT", "BLOB"}:
        return RowType(fields=())
    name, length = _LENGTHS.get(found["root"], (found["root"], None))
    root = TypeRoot.TIMESTAMP_LTZ if found["zone"] and "LOCAL" in found["zone"] else TypeRoot[name]
    first = int(found["first"]) if found["first"] else None
    if root in {TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ} and first is None:
        first = 6
    measured = root in {TypeRoot.CHAR, TypeRoot.VARCHAR, TypeRoot.BINARY, TypeRoot.VARBINARY}
    return AtomicType(
        root=root,
        length=(length or first) if measured else None,
        precision=None if measured else first,
        scale=int(found["second"]) if found["second"] else 0 if root is TypeRoot.DECIMAL else None,
        nullable="NOT NULL" not in str(text),
    )
