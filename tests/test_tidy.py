"""The house rules that no linter checks. Each failure names its remedy."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

MODULE_LINES_MAX = 400
FUNCTION_LINES_MAX = 60

CODE_DIRECTORIES = ("src", "tests", "tools", "benchmarks", "examples")
VAGUE_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "base", "manager", "impl"}

# Words that must not stand in a file are spelled in parts, for this is a file too.
UNFINISHED_WORDS = tuple("".join(parts) for parts in (("TO", "DO"), ("FIX", "ME"), ("X", "XX")))
UNFINISHED = re.compile(rf"\b({'|'.join(UNFINISHED_WORDS)})\b")
REGISTRY_HOSTS = tuple(
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("anaconda", "org"),
        ("crates", "io"),
        ("npmjs", "org"),
        ("maven", "org"),
        ("repo", "maven", "apache", "org"),
    )
)
MACHINE_PATHS = tuple("/".join(parts) for parts in (("", "work", ""), ("", "root", "")))

# Policies and codecs, as in the import-linter contract of pyproject.toml, and the parts of Arrow
# that do I/O: the linter knows no parts of a foreign package.
PURE_MODULES = (
    "lakebed.lsm.compaction.append",
    "lakebed.lsm.compaction.policy",
    "lakebed.lsm.compaction.rewrite_plan",
    "lakebed.lsm.runs",
    "lakebed.table.metadata.entries",
    "lakebed.format.paths",
    "lakebed.format.snapshot",
    "lakebed.format.manifest",
    "lakebed.format.binary_row.codec",
)
ARROW_IO = ("pyarrow.fs", "pyarrow.parquet", "pyarrow.orc", "pyarrow.dataset")

# Tables of the real engine, with what it printed: kept as they came.
FOREIGN_DIRECTORIES = ("tests/golden/",)


def list_files(root: Path) -> list[Path]:
    """The files that are tracked or would be by the next commit."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    paths = (root / name for name in listing.split("\0") if name)
    return sorted(path for path in paths if path.is_file())


def list_modules(root: Path) -> list[Path]:
    """The Python modules of the house; foreign ones are kept as they came."""
    return [
        path
        for path in list_files(root)
        if path.suffix == ".py"
        and path.relative_to(root).parts[0] in CODE_DIRECTORIES
        and not is_foreign(path, root)
    ]


def is_foreign(path: Path, root: Path) -> bool:
    """Whether a file is kept as it came from elsewhere."""
    return path.relative_to(root).as_posix().startswith(FOREIGN_DIRECTORIES)


def read_texts(root: Path) -> Iterator[tuple[Path, str]]:
    """Files of the house that are text."""
    for path in list_files(root):
        if is_foreign(path, root):
            continue
        try:
            yield path, path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue


def find_long_modules(root: Path) -> list[str]:
    """Modules that press on the limit are two things by now."""
    return [
        f"{path.relative_to(root)} has {count} lines, at most {MODULE_LINES_MAX}: split it by noun"
        for path in list_modules(root)
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > MODULE_LINES_MAX
    ]


def find_long_functions(root: Path) -> list[str]:
    """Functions that do not fit on a screen."""
    return [
        f"{path.relative_to(root)}:{node.lineno} {node.name} has {count} lines, at most "
        f"{FUNCTION_LINES_MAX}: name a part of it and take it out"
        for path in list_modules(root)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if (count := (node.end_lineno or node.lineno) - node.lineno + 1) > FUNCTION_LINES_MAX
    ]


def find_modules_without_docstring(root: Path) -> list[str]:
    """A module of the library says what question it answers."""
    return [
        f"{path.relative_to(root)} has no docstring: say first what question it answers"
        for path in list_modules(root)
        if path.relative_to(root).parts[0] == "src"
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]


def find_vague_names(root: Path) -> list[str]:
    """Module and package names that say nothing, alone or as a part."""
    failures = []
    for path in list_modules(root):
        name = path.relative_to(root).with_suffix("")
        words = {word for part in name.parts for word in part.split("_")}
        if vague := sorted(words & VAGUE_NAMES):
            failures.append(
                f"{path.relative_to(root)} is called {', '.join(vague)}: name it after its noun"
            )
    return failures


def find_unfinished(root: Path) -> list[str]:
    """Notes to oneself belong into an issue."""
    return [
        f"{path.relative_to(root)}:{number} says {found.group()}: finish it or open an issue"
        for path, text in read_texts(root)
        for number, line in enumerate(text.splitlines(), start=1)
        if (found := UNFINISHED.search(line))
    ]


def find_registry_hosts(root: Path) -> list[str]:
    """Where packages come from is set up on the machine, never in the repository."""
    return [
        f"{path.relative_to(root)} names {host}: leave the index to the machine"
        for path, text in read_texts(root)
        for host in REGISTRY_HOSTS
        if host in text
    ]


def find_machine_paths(root: Path) -> list[str]:
    """Paths that exist on one machine only."""
    return [
        f"{path.relative_to(root)}:{number} names {prefix}: use a path inside the clone"
        for path, text in read_texts(root)
        for number, line in enumerate(text.splitlines(), start=1)
        for prefix in MACHINE_PATHS
        if re.search(rf"(?<![\w.]){prefix}", line)
    ]


def read_imports(path: Path) -> set[str]:
    """Names that a module imports, also inside functions: modules, and what is taken from them."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def find_arrow_io(root: Path) -> list[str]:
    """Pure modules that reach a part of Arrow that does I/O, by themselves or through others."""
    failures = []
    for pure in PURE_MODULES:
        waiting, seen = [pure], {pure}
        while waiting:
            name = waiting.pop()
            path = root.joinpath("src", *name.split(".")).with_suffix(".py")
            if not path.is_file():
                continue
            imported = read_imports(path)
            failures += [
                f"{pure} does no I/O, but {name} imports {io}: take bytes or columns instead"
                for io in sorted(imported & set(ARROW_IO))
            ]
            new = {other for other in imported if other.startswith("lakebed.")} - seen
            seen |= new
            waiting += new
    return failures


def test_modules_are_short() -> None:
    assert find_long_modules(ROOT) == []


def test_functions_are_short() -> None:
    assert find_long_functions(ROOT) == []


def test_library_modules_say_what_they_answer() -> None:
    assert find_modules_without_docstring(ROOT) == []


def test_module_names_are_nouns_with_a_meaning() -> None:
    assert find_vague_names(ROOT) == []


def test_nothing_is_left_unfinished() -> None:
    assert find_unfinished(ROOT) == []


def test_no_file_names_a_package_registry() -> None:
    assert find_registry_hosts(ROOT) == []


def test_no_file_names_a_path_of_one_machine() -> None:
    assert find_machine_paths(ROOT) == []


def test_policies_and_codecs_reach_no_io_of_arrow() -> None:
    absent = [
        name
        for name in PURE_MODULES
        if not ROOT.joinpath("src", *name.split(".")).with_suffix(".py").is_file()
    ]
    assert absent == []
    assert find_arrow_io(ROOT) == []


@pytest.fixture
def house(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    return tmp_path


def put(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_a_long_module_is_found(house: Path) -> None:
    put(house, "src/good.py", "a = 1\n" * MODULE_LINES_MAX)
    assert find_long_modules(house) == []
    put(house, "tools/long.py", "a = 1\n" * (MODULE_LINES_MAX + 1))
    assert [failure.split()[0] for failure in find_long_modules(house)] == ["tools/long.py"]


def test_a_long_function_is_found_inside_a_class_too(house: Path) -> None:
    put(house, "src/good.py", "def fits():\n" + "    a = 1\n" * (FUNCTION_LINES_MAX - 1))
    assert find_long_functions(house) == []
    body = "        a = 1\n" * FUNCTION_LINES_MAX
    put(house, "tests/long.py", f"class C:\n    async def long(self):\n{body}")
    assert [failure.split()[1] for failure in find_long_functions(house)] == ["long"]


def test_a_library_module_without_docstring_is_found(house: Path) -> None:
    put(house, "src/good.py", '"""What is good?"""\n')
    put(house, "tests/test_good.py", "a = 1\n")
    assert find_modules_without_docstring(house) == []
    put(house, "src/silent.py", "# not a docstring\n")
    assert len(find_modules_without_docstring(house)) == 1


@pytest.mark.parametrize("name", ["src/utils.py", "src/base/rows.py", "tests/table_helpers.py"])
def test_a_vague_name_is_found(house: Path, name: str) -> None:
    put(house, "src/database.py", "")
    assert find_vague_names(house) == []
    put(house, name, "")
    assert len(find_vague_names(house)) == 1


@pytest.mark.parametrize("word", UNFINISHED_WORDS)
def test_an_unfinished_note_is_found_in_any_text(house: Path, word: str) -> None:
    put(house, "docs/good.md", f"{word}S and {word.lower()} are other words\n")
    assert find_unfinished(house) == []
    put(house, "docs/bad.md", f"later\n({word}: more)\n")
    assert [failure.split()[0] for failure in find_unfinished(house)] == ["docs/bad.md:2"]


@pytest.mark.parametrize("host", REGISTRY_HOSTS)
def test_a_registry_host_is_found_but_not_in_foreign_files(house: Path, host: str) -> None:
    put(house, "tests/golden/PROVENANCE", host)
    (house / "data.bin").write_bytes(b"\xff\x00" + host.encode())
    assert find_registry_hosts(house) == []
    put(house, "requirements/dev.txt", f"--index-url https://{host}/simple\n")
    assert len(find_registry_hosts(house)) >= 1


@pytest.mark.parametrize("prefix", MACHINE_PATHS)
def test_a_path_of_one_machine_is_found(house: Path, prefix: str) -> None:
    put(house, "docs/good.md", f"build{prefix}x and ./a{prefix}x\n")
    assert find_machine_paths(house) == []
    put(house, "dev", f"cd {prefix}main\n")
    assert len(find_machine_paths(house)) == 1


@pytest.mark.parametrize("line", ["import pyarrow.parquet as pq", "from pyarrow import parquet"])
def test_io_of_arrow_is_found_behind_a_pure_module(house: Path, line: str) -> None:
    put(house, "src/lakebed/lsm/runs.py", "import pyarrow as pa\nfrom lakebed.lsm import words\n")
    put(house, "src/lakebed/lsm/words.py", "import pyarrow.compute\n")
    assert find_arrow_io(house) == []
    put(house, "src/lakebed/lsm/words.py", f"def read():\n    {line}\n")
    assert [failure.split()[0] for failure in find_arrow_io(house)] == ["lakebed.lsm.runs"]
