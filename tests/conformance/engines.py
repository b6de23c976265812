"""What a random table's merge engine asks of its columns and options, engine by engine."""

import random
from dataclasses import dataclass, field

from conformance.kinds import SEQUENCES

EVERY_KIND = ("+I", "+U", "-U", "-D")
ADDED = ("+I", "+U")

NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "decimal_wide")
SMALL_NUMBERS = ("int_small", "bigint_small", "double_small", "decimal_small")
ORDERED = (*NUMBERS, "string", "varchar", "date", "timestamp_3", "timestamp_6", "timestamp_ltz")
ANYTHING = (*ORDERED, "boolean", "bytes", "time", "array", "map", "row")

# Which kinds of column an aggregate function is tried on.
FUNCTIONS = {
    "sum": SMALL_NUMBERS,
    "product": SMALL_NUMBERS,
    "max": ORDERED,
    "min": ORDERED,
    "last_value": ANYTHING,
    "last_non_null_value": ANYTHING,
    "first_value": ANYTHING,
    "first_non_null_value": ANYTHING,
    "listagg": ("string_small",),
    "bool_and": ("boolean",),
    "bool_or": ("boolean",),
    "collect": ("array",),
    "merge_map": ("map",),
}
# Functions that can take a row back; a column with another one must ignore rows taken back.
RETRACTING = {"sum", "product", "last_value", "last_non_null_value", "collect", "merge_map"}


@dataclass(slots=True)
class Engine:
    """One engine with its choices.

    Attributes:
        columns: The value columns that it needs, by name, with their kinds.
        options: Its table options.
        row_kinds: The kinds of row that it takes.
    """

    columns: dict[str, str] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)
    row_kinds: tuple[str, ...] = ADDED


def deduplicate(rng: random.Random) -> Engine:
    """The last row of a key stays, by arrival or by sequence fields; deletes remove it."""
    engine = Engine(row_kinds=EVERY_KIND)
    if rng.random() < 0.2:
        engine.options["ignore-delete"] = "true"
    _add_sequence(engine, rng)
    return engine


def partial_update(rng: random.Random) -> Engine:
    """The last value of each column that is not null stays."""
    engine = Engine(options={"merge-engine": "partial-update"})
    deletes = rng.choice(("ignore-delete", "partial-update.remove-record-on-delete", None))
    if deletes is not None:
        engine.options[deletes] = "true"
        engine.row_kinds = EVERY_KIND
    _add_sequence(engine, rng)
    return engine


def sequence_groups(rng: random.Random) -> Engine:
    """Partial update in which groups of columns follow sequences of their own."""
    engine = Engine(options={"merge-engine": "partial-update"})
    for number in range(rng.randint(1, 2)):
        sequences = {f"g{number}_{i}": rng.choice(SEQUENCES) for i in range(rng.randint(1, 2))}
        members = {f"m{number}_{i}": rng.choice(ANYTHING) for i in range(rng.randint(1, 2))}
        if rng.random() < 0.5:
            members[f"a{number}"] = _aggregate(engine, rng, f"a{number}")
        engine.columns |= sequences | members
        engine.options[f"fields.{','.join(sequences)}.sequence-group"] = ",".join(members)
    removal = rng.choice(("ignore-delete", "remove-record-on-sequence-group", None, None))
    if removal == "ignore-delete":
        engine.options[removal] = "true"
    elif removal is not None:
        engine.options[f"partial-update.{removal}"] = "g0_0"
    engine.row_kinds = rng.choice((ADDED, EVERY_KIND))
    return engine


def aggregation(rng: random.Random) -> Engine:
    """Columns have aggregate functions; the others keep their last value that is not null."""
    engine = Engine(options={"merge-engine": "aggregation"})
    for number in range(rng.randint(1, 5)):
        engine.columns[f"a{number}"] = _aggregate(engine, rng, f"a{number}")
    engine.row_kinds = rng.choice((ADDED, EVERY_KIND))
    if rng.random() < 0.2:
        ignoring = [key for key in engine.options if key.endswith(".ignore-retract")]
        for key in ignoring:
            del engine.options[key]
        engine.options["aggregation.remove-record-on-delete"] = "true"
        engine.row_kinds = (*ADDED, "-D")
    _add_sequence(engine, rng)
    return engine


def first_row(rng: random.Random) -> Engine:
    """The first row of a key stays."""
    engine = Engine(options={"merge-engine": "first-row"})
    if rng.random() < 0.3:
        engine.options["ignore-delete"] = "true"
        engine.row_kinds = EVERY_KIND
    return engine


ENGINES = (deduplicate, partial_update, sequence_groups, aggregation, first_row)


def _add_sequence(engine: Engine, rng: random.Random) -> None:
    """Sometimes lets one column or two decide which row of a key is the newer."""
    count = rng.choice((0, 0, 1, 2))
    sequences = {f"s{number}": rng.choice(SEQUENCES) for number in range(count)}
    if sequences:
        engine.columns |= sequences
        engine.options["sequence.field"] = ",".join(sequences)
        if rng.random() < 0.4:
            engine.options["sequence.field.sort-order"] = "descending"


def _aggregate(engine: Engine, rng: random.Random, name: str) -> str:
    """Gives a column a function; returns its kind."""
    function = rng.choice(list(FUNCTIONS))
    engine.options[f"fields.{name}.aggregate-function"] = function
    if function not in RETRACTING or rng.random() < 0.2:
        engine.options[f"fields.{name}.ignore-retract"] = "true"
    if function == "listagg" and rng.random() < 0.5:
        engine.options[f"fields.{name}.list-agg-delimiter"] = "; "
    if function in {"listagg", "collect"} and rng.random() < 0.3:
        engine.options[f"fields.{name}.distinct"] = "true"
    return rng.choice(FUNCTIONS[function])
