"""Run clang-tidy on the core, its tests and its fuzz targets: `python .ci/tidy.py CLANG_TIDY BUILD_FOLDER`.

Every file is looked at once, however many programs it is compiled for, and as many at a time as there are
cores. Fuzz targets are built by Clang alone and not here, so they are looked at with C++20 and the headers
of the core alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CORE, TESTS, FUZZ = (ROOT / folder / "core" for folder in ("src", "tests", "fuzz"))


def main(clang_tidy: str, build: Path) -> int:
    """Return how many files have findings, after printing these."""
    commands = {}
    for command in json.loads((build / "compile_commands.json").read_text()):
        if any(Path(command["file"]).is_relative_to(folder) for folder in (CORE, TESTS)):
            commands.setdefault(command["file"], command)
    for target in sorted(FUZZ.glob("*.cpp")):
        options = f"c++ -std=c++20 -I{CORE} -c {target}"
        commands[str(target)] = {"directory": str(build), "file": str(target), "command": options}
    once = build / "lint"
    once.mkdir(exist_ok=True)
    (once / "compile_commands.json").write_text(json.dumps(list(commands.values())))

    def check(file: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [clang_tidy, "--quiet", "-p", str(once), file], capture_output=True, text=True, check=False
        )

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(check, commands))
    bad = [result for result in results if result.returncode != 0]
    for result in bad:
        print(result.stdout, result.stderr, sep="")
    print(f"clang-tidy: {len(commands)} files, {len(bad)} with findings")
    return min(len(bad), 1) if commands else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
