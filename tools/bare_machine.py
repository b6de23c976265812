"""Does `./dev` work on a machine with nothing but bash, git and Python?

A fresh copy of the files that git knows, an empty HOME, no variables but those that say how the
network is reached, and a PATH that holds links to the basics and to Python: no Java, no uv, no
curl. Everything is fetched anew, as on a newcomer's machine.

    python -m tools.bare_machine quickstart        # runs ./dev quickstart there
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.provenance import ROOT

BASICS = (
    *("bash", "sh", "env", "git", "cat", "chmod", "cp", "cut", "date", "dirname", "basename"),
    *("expr", "find", "grep", "head", "hostname", "id", "ln", "ls", "mkdir", "mv", "readlink"),
    *("rm", "sed", "sleep", "sort", "tail", "tee", "touch", "tr", "uname", "wc"),
)

NETWORK_VARIABLES = re.compile(r"(https?|no|all)_proxy|ssl_cert_\w+|pip_\w+", re.IGNORECASE)


def make_machine(directory: Path) -> dict[str, str]:
    """Makes the PATH and the HOME; returns the whole environment."""
    programs, home = directory / "bin", directory / "home"
    programs.mkdir()
    home.mkdir()
    for name in BASICS:
        if (program := shutil.which(name)) is not None:
            (programs / name).symlink_to(program)
    python = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"
    (programs / "python3").symlink_to(python.resolve())
    network = {name: os.environ[name] for name in os.environ if NETWORK_VARIABLES.fullmatch(name)}
    return {**network, "PATH": str(programs), "HOME": str(home)}


def copy_clone(target: Path) -> None:
    """Copies what git tracks, or would by the next commit, as it is in the working tree."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listing.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    subprocess.run(["git", "init", "--quiet", str(target)], check=True)


def main() -> None:
    """Runs `./dev` there with the arguments given; ends with its status."""
    with tempfile.TemporaryDirectory(prefix="lakebed-bare-") as temporary:
        environment = make_machine(Path(temporary))
        clone = Path(temporary) / "clone"
        copy_clone(clone)
        done = subprocess.run(
            ["./dev", *sys.argv[1:]],
            cwd=clone,
            env=environment,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
