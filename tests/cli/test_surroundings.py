"""Commands in surroundings that nobody would wish for: closed streams, odd widths, little memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import treemean
from commands import python, run
from treemean import program
from treemean.cli import app

LABEL = "S\x1b[2J\x9b"


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("trees") / "in.dbr"
    path.write_text(f"({LABEL} (N\u202e 0=a) (N 1=b\x1b]0;x\x07))\n")
    return path


def shell(line: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a line in which T stands for the command; no traceback may come out."""
    result = subprocess.run(
        ["bash", "-c", line.replace("T ", f"{sys.executable} -m treemean ")],
        env={**os.environ, "NO_COLOR": "1", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in result.stderr
    assert "\x1b" not in result.stdout + result.stderr
    return result


def test_closed_streams(trees: Path, tmp_path: Path) -> None:
    """One process after the other, as each takes its time to begin."""
    told = "error: standard output: it is closed\n"
    out = tmp_path / "out.jsonl"
    for line, code, errors in (
        (f"T stats {trees} >&-", 1, told),
        (f"T average - {trees} -o {out} <&-", 1, "error: <standard input>: it is closed\n"),
        (f"T stats {trees}.gz 2>&-", 1, ""),
        (f"T convert {trees} {out} >&- 2>&- <&-", 0, ""),
    ):
        result = shell(line)
        assert (result.returncode, result.stderr) == (code, errors), line
    assert len(treemean.read(out)) == 1


@pytest.mark.parametrize("columns", ["0", "-3", "²", "1", "999999999999"])
def test_widths_that_cannot_be_right(columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("TERMINAL_WIDTH", columns)
    program.begin()
    assert "COLUMNS" not in os.environ
    assert "TERMINAL_WIDTH" not in os.environ


def test_no_width_and_a_stream_that_cannot_express_a_text(trees: Path) -> None:
    odd = {"COLUMNS": "0", "PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}
    result = shell(f"T stats {trees}", **odd)
    assert result.returncode == 0
    assert "sentences" in result.stdout


def test_what_comes_from_data_is_harmless(trees: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.dbr"
    bad.write_text("(S (N x\x1b]0;y\x07))\n")
    assert r"the leaf 'x\x1b]0;y\x07'" in shell(f"T stats {bad}").stderr
    assert r"\x1b" in shell("T draw x.dbr --sentences $'\\e[2J'").stderr  # wrong usage
    assert r"S\x1b[2J\x9b" in shell(f"T stats {trees}").stdout


@pytest.mark.parametrize("style", ["table", "csv", "markdown", "json"])
def test_printed_labels_are_harmless(trees: Path, style: str, capsys: pytest.CaptureFixture[str]) -> None:
    app(["stats", str(trees), "--format", style], standalone_mode=False)
    app(["draw", str(trees)], standalone_mode=False)
    printed = capsys.readouterr().out
    assert "\x1b" not in printed
    assert "\x9b" not in printed
    label = r"S\u001b[2J\u009b" if style == "json" else r"S\x1b[2J\x9b"
    assert label in printed.replace("\\\\", "\\")


def test_a_terminal_is_told_what_a_file_is_given(trees: Path, tmp_path: Path) -> None:
    """Trees that are printed are the bytes of the file in a pipe, and harmless on a terminal."""
    import pty

    command = [sys.executable, "-m", "treemean", "convert", str(trees), "-", "--to", "discbracket"]
    piped = subprocess.run(command, capture_output=True, check=True).stdout
    assert piped.decode() == trees.read_text()
    leader, follower = pty.openpty()
    process = subprocess.Popen(command, stdout=follower, stderr=subprocess.DEVNULL)
    os.close(follower)
    shown = b""
    try:
        while more := os.read(leader, 4096):
            shown += more
    except OSError:  # how Linux tells the end
        pass
    finally:
        os.close(leader)
    assert process.wait() == 0
    assert shown.decode() == "(S\\x1b[2J\\x9b (N\\u202e 0=a) (N 1=b\\x1b]0;x\\x07))\r\n"


# ---- memory -----------------------------------------------------------------------------------------


def numpy_error() -> None:
    import numpy as np

    np.zeros(1 << 60, dtype=np.uint8)


def torch_error() -> None:
    torch = pytest.importorskip("torch")
    torch.zeros(1 << 60, dtype=torch.uint8)


def plain_error() -> None:
    raise MemoryError


@pytest.mark.parametrize("work", [numpy_error, torch_error, plain_error])
def test_a_lack_of_memory_is_one_line(work: object, capsys: pytest.CaptureFixture[str]) -> None:
    assert program.run(work, program.complain) == 1  # type: ignore[arg-type]
    errors = capsys.readouterr().err
    assert errors.startswith("error: there is not enough memory for this")
    assert errors.count("\n") == 1


def test_other_errors_are_not_hidden() -> None:
    def fail() -> None:
        raise RuntimeError("a mistake of ours")

    with pytest.raises(RuntimeError, match="a mistake of ours"):
        program.run(fail, program.complain)


def test_little_memory(tmp_path: Path) -> None:
    """A hundred megabytes beyond what the program itself takes, for trees of eighteen each, read at once."""
    path = tmp_path / "long.ptb"
    path.write_text("".join("(S " + "(X a " * 12_000 + ")" * 12_000 + ")\n" for _ in range(12)))
    script = """if True:
        import os, resource, sys
        import treemean.cli, treemean.formats.ptb, treemean.averaging.exact, treemean.trees.statistics
        import treemean.formats.parallel
        with open("/proc/self/statm") as file:
            taken = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (taken + 100_000_000, taken + 100_000_000))
        treemean.cli.main()
    """
    environment = {**os.environ, "NO_COLOR": "1", "OMP_NUM_THREADS": "1"}
    result = python("-c", script, "convert", path, tmp_path / "out.ptb", code=1, env=environment)
    assert result.stderr.startswith("error: there is not enough memory")
    assert result.stderr.count("\n") == 1
    assert [p.name for p in tmp_path.iterdir()] == ["long.ptb"]


def test_sentences_that_an_error_quotes_stand_in_lines_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "a.dbr").write_text("(S (A 0=a) (B 1=b))\n")
    (tmp_path / "b.dbr").write_text("(S (A 0=a) (B 1=c))\n")
    _, *quoted = run("evaluate", "a.dbr", "b.dbr", cwd=tmp_path, code=1).stderr.splitlines()
    assert quoted == ["  a.dbr: a b", "  b.dbr: a c"]
