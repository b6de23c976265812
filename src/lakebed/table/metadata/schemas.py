"""Which schemas a table has had (format.md 4)."""

from collections.abc import Mapping
from dataclasses import dataclass

from lakebed.errors import CorruptTableError, NotFoundError
from lakebed.format.paths import UNFINISHED_MARK, TablePaths, schema_id_of
from lakebed.format.schema import TableSchema
from lakebed.storage.file_io import FileIO, PutResult


class SchemasById(dict[int, TableSchema]):
    """Schemas by id; asked for one that is missing, it tells so, and not as a `KeyError`."""

    def __init__(self, schemas: Mapping[int, TableSchema], directory: str) -> None:
        """Takes the schemas that there are, and the directory that lacks the others."""
        super().__init__(schemas)
        self._directory = directory

    def __missing__(self, schema_id: int) -> TableSchema:
        """Raises NotFoundError."""
        hint = f"It should be in {self._directory}, for a data file was written with it"
        raise NotFoundError("schema", str(schema_id), hint=hint)

    def __reduce__(self) -> tuple[object, ...]:
        """As it is made: copies go to Spark's workers."""
        return type(self), (dict(self), self._directory)


@dataclass(frozen=True, slots=True)
class Schemas:
    """The schemas of one table or branch."""

    file_io: FileIO
    paths: TablePaths

    def load(self, schema_id: int) -> TableSchema:
        """One schema.

        Raises:
            NotFoundError: There is none of that id.
            CorruptTableError: Its file cannot be read.
        """
        path = self.paths.schema(schema_id)
        try:
            data = self.file_io.read(path)
        except NotFoundError as error:
            raise NotFoundError("schema", str(schema_id)) from error
        schema = TableSchema.from_json(data, path)
        if schema.id != schema_id:
            raise CorruptTableError(path, f"holds schema {schema.id}")
        return schema

    def latest(self) -> TableSchema | None:
        """The newest schema; None where there is no table."""
        latest = max(self.list_ids(), default=None)
        return None if latest is None else self.load(latest)

    def load_all(self) -> "SchemasById":
        """Every schema of the table."""
        return SchemasById(
            {schema_id: self.load(schema_id) for schema_id in self.list_ids()},
            self.paths.schema_directory,
        )

    def list_ids(self) -> list[int]:
        """Ids of all schemas, ascending; none of a branch that is half made or half deleted."""
        names = {status.name for status in self.file_io.list(self.paths.schema_directory)}
        if UNFINISHED_MARK in names:
            return []
        return sorted(each for each in map(schema_id_of, names) if each is not None)

    def put(self, schema: TableSchema) -> PutResult:
        """Writes a schema that must not exist yet; what makes a table or a change of it visible."""
        return self.file_io.put_if_absent(self.paths.schema(schema.id), schema.to_json())
