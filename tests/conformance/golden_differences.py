"""Where another reader does not give a golden answer: on which questions, and who is right."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What one reader does on one table.

    Attributes:
        reader: ``"java"`` (the API of Paimon 1.4.2) or ``"pypaimon-rust"`` (0.4.0).
        table: A golden table.
        questions: The ids of the questions.
        gist: A part of how the difference is told.
        reason: Why, and who is right.
    """

    reader: str
    table: str
    questions: tuple[str, ...]
    gist: str
    reason: str


DIFFERENCES = (
    Difference(
        reader="java",
        table="append_java_types",
        questions=("$audit_log",),
        gist="lacks",
        reason="the golden answer went through Spark, which cuts TIMESTAMP(9) to microseconds; "
        "Java and Lakebed keep the nanoseconds",
    ),
    Difference(
        reader="java",
        table="append_types_orc",
        questions=(
            *("latest", "snapshot 1", "snapshot 2", "$audit_log"),
            *("incremental 1,2 delta", "incremental 1,2 diff", "$audit_log incremental 1,2 delta"),
        ),
        gist='  "',
        reason="an ORC file holds CHAR(5) without its trailing spaces; Spark, and so Lakebed, "
        "gives them back, as SQL wants it, and Java's API gives what the file holds",
    ),
    Difference(
        reader="java",
        table="first_row",
        questions=("incremental 1,6 delta", "incremental 1,6 diff", "incremental 4,6 delta"),
        gist="[",
        reason="1.4.2 hides level 0 in an increment of a first-row table, 2.1 does not; 2.1 is "
        "right, for a commit's rows are its increment whether compacted yet or not",
    ),
    Difference(
        reader="java",
        table="pk_dv",
        questions=(
            *("incremental 1,8 delta", "incremental 1,8 diff", "$audit_log incremental 1,8 delta"),
            *("incremental 5,8 delta", "$audit_log incremental 5,8 delta"),
        ),
        gist="[",
        reason="as with first_row, on a primary-key table with deletion vectors",
    ),
    Difference(
        reader="pypaimon-rust",
        table="append_nested_orc",
        questions=("latest", "snapshot 2", "snapshot 3"),
        gist='"y": null',
        reason="pypaimon-rust reads an empty string inside a ROW of an Avro file as null; wrong",
    ),
    Difference(
        reader="pypaimon-rust",
        table="append_types_orc",
        questions=("latest", "snapshot 1", "snapshot 2", "columns dec38,tn,ts"),
        gist="Overflow while decoding timestamp",
        reason="pypaimon-rust decodes ORC timestamps as nanoseconds, which end in 2262; an error",
    ),
    Difference(
        reader="pypaimon-rust",
        table="row_tracking",
        questions=("latest", "snapshot 3", "snapshot 4"),
        gist="is missing first_row_id",
        reason="pypaimon-rust refuses files of a row-tracking table whose row ids stand in the "
        "file, as a compaction leaves them; an error",
    ),
)
