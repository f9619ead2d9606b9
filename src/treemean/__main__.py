"""`python -m treemean` is the command line."""

from __future__ import annotations

from treemean.program import begin, starting


def main() -> None:
    """Run the command line."""
    begin()
    with starting():
        from treemean.cli import main as run
    run()


if __name__ == "__main__":
    main()
