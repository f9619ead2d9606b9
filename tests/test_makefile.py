"""Targets of the Makefile that depend on what others have installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
@pytest.mark.parametrize(
    ("target", "missing"),
    [
        ("test-gpu", "no torch, no triton, no safetensors, no numpy, no pytest, no hypothesis"),
        ("bench-gpu", "no torch, no triton, no safetensors, no numpy"),
    ],
)
def test_targets_for_a_gpu_say_what_is_missing(tmp_path: Path, target: str, missing: str) -> None:
    bare = tmp_path / "python3"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')  # without any installed package
    bare.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    result = subprocess.run(
        ["make", "--no-print-directory", target],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=environment,
    )
    assert result.returncode != 0
    assert result.stdout == ""
    first, *rest = result.stderr.splitlines()
    assert f"has {missing}: install that" in first
    assert len(rest) == 1  # of make
