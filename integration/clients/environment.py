#!/usr/bin/env python3
"""Makes a virtual environment with the given requirements, at first use, and prints its interpreter.

Usage: environment.py CACHE_DIR REQUIREMENTS_FILE
"""

import fcntl
import subprocess
import sys
import venv
from pathlib import Path


def main():
    cache, requirements = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    folder = cache / ("venv-" + requirements.stem.removeprefix("requirements-"))
    cache.mkdir(parents=True, exist_ok=True)
    python = folder / "bin" / "python"
    with open(folder.with_name(folder.name + ".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # test packages run in parallel
        marker = folder / "installed-requirements.txt"
        wanted = sys.version + "\n" + requirements.read_text()
        if not (marker.exists() and marker.read_text() == wanted):
            venv.create(folder, clear=True, with_pip=True)
            subprocess.run([python, "-m", "pip", "install", "--quiet", "--requirement", requirements],
                           check=True, stdout=sys.stderr)
            marker.write_text(wanted)
    print(python)


if __name__ == "__main__":
    main()
