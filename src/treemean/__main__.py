"""`python -m treemean` is the command line."""

from __future__ import annotations

import sys

from treemean import program


def main() -> None:
    """Run the command line."""
    program.begin()
    sys.exit(program.run(_run, program.complain))


def _run() -> None:
    with program.starting():
        from treemean.cli import main as run
    run()


if __name__ == "__main__":
    main()
