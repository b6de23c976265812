"""What does SHOW TABLE EXTENDED tell of a table, or of one of its partitions?"""

from pyspark.sql.types import StructField, StructType

from lakebed.errors import UnsupportedError
from lakebed.format.types import DataField
from lakebed.spark.lake import Lake
from lakebed.spark.names import TableName, quoted
from lakebed.spark.sql.inspecting.partitions import Partition
from lakebed.spark.sql.inspecting.properties import own_properties
from lakebed.spark.types import to_spark_type, type_text
from lakebed.table.table import Table


def table_information(lake: Lake, name: TableName, table: Table) -> str:
    """Lines of `key: value`, as Spark has them for tables of catalogs that are not its own."""
    properties = own_properties(lake, table)
    listed = ", ".join(f"{key}={value}" for key, value in properties.items())
    lines = [
        f"Catalog: {name.catalog}",
        f"Namespace: {name.database}",
        f"Table: {name.table}",
        "Type: MANAGED",
        *([f"Comment: {table.comment}"] if table.comment else []),
        f"Location: {table.location}",
        "Provider: paimon",
        f"Table Properties: [{listed}]",
    ]
    if table.partition_keys:
        columns = ", ".join(quoted((key,)) for key in table.partition_keys)
        lines += ["Partition Provider: Catalog", f"Partition Columns: [{columns}]"]
    tree = "".join(_tree(field) for field in table.schema.fields)
    return "\n".join([*lines, f"Schema: root\n{tree}"]) + "\n"


def partition_information(partition: Partition) -> str:
    """Lines of `key: value`, as Paimon's connector has them."""
    parameters = (
        f"recordCount={partition.record_count}",
        f"fileSizeInBytes={partition.file_size_in_bytes}",
        f"fileCount={partition.file_count}",
        f"lastFileCreationTime={partition.last_file_creation_ms}",
    )
    statistics = f"{partition.record_count} rows, {partition.file_size_in_bytes} bytes"
    lines = [
        f"Partition Values: [{', '.join(partition.assignments)}]",
        f"Partition Parameters: {{{', '.join(parameters)}}}",
        f"Partition Statistics: {statistics}",
    ]
    return "\n".join(lines) + "\n"


def _tree(field: DataField) -> str:
    """The column's lines in the tree that Spark prints of a schema."""
    nullable = field.type.nullable
    try:
        kind = to_spark_type(field.type, column=field.name)
    except UnsupportedError:
        # A frame has no such column, but the table does.
        shown = str(nullable).lower()
        return f" |-- {field.name}: {type_text(field.type)} (nullable = {shown})\n"
    column = StructField(field.name, kind, nullable=nullable)
    return StructType([column]).treeString().removeprefix("root\n")
