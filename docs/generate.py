"""Regenerate what the docs show, and check that their links lead somewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def help_text(*command: str) -> str:
    """Return the help of a command as plain text of 100 columns."""
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    result = subprocess.run(
        [Path(sys.executable).parent / "treemean", *command, "--help"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return "\n".join(line.rstrip() for line in result.stdout.strip("\n").splitlines())


def command_line_page() -> str:
    """Return the page with the help of every command."""
    from treemean.cli import app

    commands = [(command.name or command.callback.__name__,) for command in app.registered_commands]
    for group in app.registered_groups:
        commands += [(group.name, command.name) for command in group.typer_instance.registered_commands]
    parts = ["# The command line", "", "Written by `make docs` from the commands themselves.", ""]
    for command in [(), *sorted(commands)]:
        parts += [f"## {' '.join(['treemean', *command])}", "", "```text", help_text(*command), "```", ""]
    return "\n".join(parts)


def broken_links() -> list[str]:
    """Return the links of all Markdown files that lead to no file."""
    broken = []
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text()):
            if not target.startswith(("http:", "https:")) and not (page.parent / target).exists():
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    return broken


def main() -> None:
    """Write the generated pages; exit with 1 if a link is broken."""
    (ROOT / "docs" / "command-line.md").write_text(command_line_page())
    broken = broken_links()
    for link in broken:
        print("broken link:", link, file=sys.stderr)
    sys.exit(bool(broken))


if __name__ == "__main__":
    main()
