import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools.bare_machine import BASICS, copy_clone, make_machine
from tools.locks import LOCKS, Lock
from tools.provenance import ROOT

COMMANDS = ("quickstart", "test", "check", "bench", "prove", "lock", "ci", "help")


def run_dev(*arguments: str, clone: Path = ROOT, path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [clone / "dev", *arguments],
        env={"PATH": str(path), "HOME": str(path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def basics(tmp_path: Path) -> Path:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in BASICS:
        if program := shutil.which(name):
            (programs / name).symlink_to(program)
    return programs


def test_help_names_every_command(basics: Path) -> None:
    done = run_dev("help", path=basics)
    assert done.returncode == 0
    assert [name for name in COMMANDS if f"./dev {name}" not in done.stdout] == []


def test_an_unknown_command_is_refused_with_the_help(basics: Path) -> None:
    done = run_dev("tset", path=basics)
    assert done.returncode == 1
    assert "there is no ./dev tset" in done.stderr
    assert "./dev test" in done.stderr


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    target = tmp_path / "clone"
    shutil.copytree(ROOT / "requirements", target / "requirements")
    for name in ("dev", "pyproject.toml"):
        shutil.copy2(ROOT / name, target / name)
    return target


def test_without_a_python_the_error_says_what_to_install(basics: Path, clone: Path) -> None:
    done = run_dev("test", clone=clone, path=basics)
    assert done.returncode == 1
    assert "no Python 3.11 or later" in done.stderr
    assert "python3-venv" in done.stderr
    assert not (clone / ".venv").exists()


def test_a_python_that_is_too_old_is_not_taken(basics: Path, clone: Path) -> None:
    old = basics / "python3"
    pretend = "import sys; sys.version_info = (3, 10, 14); exec(sys.stdin.read())"
    old.write_text(f"#!/bin/sh\nexec '{sys.executable}' -c '{pretend}'\n")
    old.chmod(0o755)
    done = run_dev("check", clone=clone, path=basics)
    assert done.returncode == 1
    assert "no Python 3.11 or later" in done.stderr


LOCK_FILES = sorted((ROOT / "requirements").glob("*.txt"))


def test_every_lock_that_is_made_here_is_there() -> None:
    assert {lock.path for lock in LOCKS} <= set(LOCK_FILES)


@pytest.mark.parametrize("path", LOCK_FILES, ids=lambda path: path.stem)
def test_every_requirement_of_a_lock_is_pinned_and_names_no_index(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    requirements = text.replace("\\\n", " ").splitlines()
    pins = [line for line in requirements if line and not line.lstrip().startswith("#")]
    assert pins
    assert [pin for pin in pins if "==" not in pin] == []
    assert "://" not in text


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_every_requirement_that_dev_installs_has_hashes(lock: Lock) -> None:
    requirements = lock.path.read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    pins = [line for line in requirements if "==" in line]
    assert [pin for pin in pins if "--hash=sha256:" not in pin] == []


def test_a_bare_machine_has_a_python_and_git_but_no_java_and_nothing_at_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", "/usr")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy")
    environment = make_machine(tmp_path)
    assert environment.keys() >= {"PATH", "HOME", "HTTPS_PROXY"}
    assert "JAVA_HOME" not in environment
    assert list(Path(environment["HOME"]).iterdir()) == []
    found = {name for name in ("python3", "git", "java", "uv", "curl") if _finds(name, environment)}
    assert found == {"python3", "git"}


def test_the_clone_for_a_bare_machine_holds_what_git_knows(tmp_path: Path) -> None:
    copy_clone(tmp_path)
    assert (tmp_path / "dev").stat().st_mode & 0o111
    assert (tmp_path / ".git").is_dir()
    assert not (tmp_path / ".venv").exists()


def _finds(name: str, environment: dict[str, str]) -> bool:
    return shutil.which(name, path=environment["PATH"]) is not None
