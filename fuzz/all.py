"""Run all fuzz targets one after the other, and tell what was found: `make fuzz`.

New inputs that reach new places are kept in `out/fuzz`, and with `--merge` the smallest that reach as much
are put into `fuzz/corpus`, which is in the repository. What breaks a target is kept in `out/fuzz/found`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
CORPUS, OUT = HERE / "corpus", HERE.parent / "out" / "fuzz"
#: Of one input: seconds, megabytes of memory, and bytes of its own.
LIMITS = ["-timeout=20", "-rss_limit_mb=2000", "-max_len=4096"]


def commands(core: Path) -> dict[str, list[str]]:
    """Return how each target is called."""
    usage = subprocess.run([sys.executable, HERE / "readers.py"], capture_output=True, text=True).stderr
    names = usage[usage.index("{") + 1 : usage.index("}")].split(",")
    readers = {name: [sys.executable, str(HERE / "readers.py"), name] for name in names}
    pieces = {f"core-{path.stem}": [str(core / f"fuzz_{path.stem}")] for path in HERE.glob("core/*.cpp")}
    return readers | dict(sorted(pieces.items()))


def main() -> int:
    """Run the targets that are asked for and return an exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=120, help="for each target")
    parser.add_argument("--core", type=Path, default=HERE.parent / "build" / "fuzz", help="built targets")
    parser.add_argument("--merge", action="store_true", help="put inputs that reach more into fuzz/corpus")
    parser.add_argument("targets", nargs="*", help="all if none are named")
    options = parser.parse_args()
    all_targets = commands(options.core)
    failed = []
    for name in options.targets or all_targets:
        seen, kept = OUT / name, CORPUS / name
        for folder in (seen, kept, OUT / "found"):
            folder.mkdir(parents=True, exist_ok=True)
        command = [*all_targets[name], *LIMITS, f"-artifact_prefix={OUT / 'found' / name}-"]
        if options.merge:
            # Few inputs that reach as many places; how often they do so does not count.
            how = ["-set_cover_merge=1", "-use_counters=0", str(kept), str(seen)]
        else:
            how = [f"-max_total_time={options.seconds}", "-print_final_stats=1", str(seen), str(kept)]
        log = OUT / f"{name}.log"
        with open(log, "wb") as file:
            code = subprocess.run([*command, *how], stdout=file, stderr=file, check=False).returncode
        good = f"{len(list(kept.iterdir()))} inputs kept" if options.merge else "nothing found"
        print(f"{name}: {good if code == 0 else f'something was found, see {log}'}", flush=True)
        failed += [name] * (code != 0)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
