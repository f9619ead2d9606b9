"""Try the wheel in dist as a new user does: `python .ci/try_wheel.py PYTHON`.

It is installed without extras into an environment of its own, where there is no compiler. Then commands of
the README are run, and commands that need an extra must name it. The size is checked; times are only printed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MOST_MEGABYTES = 150
#: Not ours: what every new environment has.
_NOT_OURS = ("pip", "setuptools", "pkg_resources", "_distutils_hack")

WORKING = [
    "treemean --version",
    "treemean sample",
    "treemean average run1.discbracket run2.discbracket run3.discbracket -o mean.discbracket",
    "treemean evaluate run1.discbracket mean.discbracket gold.discbracket",
    "treemean compare mean.discbracket run1.discbracket gold.discbracket --test bootstrap",
    "treemean agree run1.discbracket run2.discbracket run3.discbracket",
    "treemean draw mean.discbracket --sentence 7 --gold gold.discbracket -o tree.svg",
    "treemean convert gold.discbracket gold.export --remove-punctuation",
    "treemean convert gold.discbracket gold.tiger.xml",
    "treemean fit run1.discbracket run2.discbracket --gold gold.discbracket --model logistic -o hits.json",
    "treemean average run1.discbracket run2.discbracket --hits hits.json -o fitted.discbracket",
]
NAMING_AN_EXTRA = {
    "treemean average run1.discbracket run2.discbracket -o mean.parquet": "parquet",
    "treemean draw mean.discbracket --sentence 7 -o tree.png": "plots",
    "treemean fit run1.discbracket run2.discbracket --gold gold.discbracket --model boosted -o b": "fit",
    "treemean average run1.discbracket run2.discbracket -o m.dbr --method integer-programming": "solve",
    "treemean train tn-lcfrs-small --override data.train=gold.discbracket": "train",
    "treemean demo": "train",
}


def main() -> None:
    """Run everything; the first failure ends it with what was printed."""
    wheels = sorted((ROOT / "dist").glob("*.whl"), key=lambda path: path.stat().st_mtime)
    if not wheels:
        sys.exit("there is no wheel in dist: make wheel")
    python = sys.argv[1] if len(sys.argv) > 1 else sys.executable
    scratch = Path(tempfile.mkdtemp(prefix="treemean-wheel-"))
    try:
        _try(wheels[-1], python, scratch)
    finally:
        shutil.rmtree(scratch)


def _try(wheel: Path, python: str, scratch: Path) -> None:
    subprocess.run([python, "-m", "venv", scratch / "venv"], check=True)
    programs = scratch / "venv" / "bin"
    # Whatever pip would compile fails at once; nothing of this project's folder can be imported.
    environment = {
        key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")
    }
    environment |= {"CC": "/no/compiler", "CXX": "/no/compiler", "NO_COLOR": "1", "COLUMNS": "80"}

    def run(command: str, *, fails: bool = False) -> str:
        begun = time.perf_counter()
        name, *arguments = command.split()
        done = subprocess.run(
            [programs / name, *arguments],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        said = done.stdout + done.stderr
        if (done.returncode != 0) != fails or "Traceback" in said:
            sys.exit(f"{command}\nended with {done.returncode}:\n{said}")
        print(f"{time.perf_counter() - begun:6.2f} s  {command}", flush=True)
        return said

    folder = scratch
    run(f"pip install --quiet --disable-pip-version-check --only-binary :all: {wheel}")
    packages = next((scratch / "venv" / "lib").glob("python3*")) / "site-packages"
    size = sum(
        path.stat().st_size
        for path in packages.rglob("*")
        if path.is_file() and not path.relative_to(packages).parts[0].startswith(_NOT_OURS)
    )
    for command in WORKING:
        run(command)
        folder = scratch / "treemean-sample" if command == "treemean sample" else folder
    for command, extra in NAMING_AN_EXTRA.items():
        if f"pip install 'treemean[{extra}]'" not in (said := run(command, fails=True)):
            sys.exit(f"{command}\ndoes not name the extra {extra}:\n{said}")
    run("treemean --help")
    print(f"{wheel.name}: {size / 1e6:.0f} MB with all that a plain install needs")
    if size > MOST_MEGABYTES * 1e6:
        sys.exit(f"that is more than {MOST_MEGABYTES} MB")


if __name__ == "__main__":
    main()
