"""The tutorials do what they show: their commands and Python are run, block by block, in an empty folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from commands import program

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "tutorials"
BLOCK = re.compile(r"^```(bash|python)\n(.*?)^```$", re.DOTALL | re.M)
#: Those that train parsers, or run whole experiments, or commands that the README shows as well.
SLOW = {"own-language", "paper", "supervised", "annotators"}
PAGES = [
    pytest.param(page, id=page.stem, marks=[pytest.mark.slow] if page.stem in SLOW else [])
    for page in sorted(FOLDER.glob("*.md"))
]


@pytest.mark.parametrize("page", PAGES)
def test_a_tutorial_runs(page: Path, tmp_path: Path) -> None:
    blocks = BLOCK.findall(page.read_text())
    assert len(blocks) >= 3
    programs = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1"}
    for language, text in blocks:
        command = ["bash", "-euo", "pipefail", "-c"] if language == "bash" else [sys.executable, "-c"]
        done = subprocess.run(
            [*command, text], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr


def test_the_commands_of_the_readme_run(tmp_path: Path) -> None:
    """Those of the first two readers, and what is shown in Python."""
    text = (ROOT / "README.md").read_text()
    parts = re.findall(r"^## [12]\. .*?(?=^## )", text, re.DOTALL | re.M)
    commands = [line[4:] for part in parts for line in part.splitlines() if line.startswith("    ")]
    assert len(commands) >= 9
    python = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.M)
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    script = "\n".join(commands) + f"\n{sys.executable} - <<'END'\n{''.join(python)}\nEND\n"
    program("bash", "-euo", "pipefail", "-c", script, cwd=tmp_path, env=environment)


@pytest.mark.parametrize("page", sorted(FOLDER.glob("*.md")), ids=lambda page: page.stem)
def test_a_tutorial_is_short(page: Path) -> None:
    assert len(page.read_text().split()) <= 1500


def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a real kernel; what it shows are pictures and tables."""
    import nbclient
    import nbformat

    monkeypatch.setenv("PYTHONWARNINGS", "default")
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    notebook = nbformat.read(FOLDER / "notebook.ipynb", as_version=4)
    nbclient.NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    shown = {
        kind
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        for kind in output.get("data", {})
    }
    assert {"text/html", "image/svg+xml"} <= shown
    stored = nbformat.read(FOLDER / "notebook.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in stored.cells), "store the notebook without outputs"
