"""Outputs: never over an input, through links, with the permissions that were there, nothing left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from treemean.errors import TreemeanError
from treemean.files import parts
from treemean.files.inputs import is_same, protected
from treemean.files.new import all_or_none
from treemean.files.output import open_folder, open_output, write_file
from treemean.files.source import open_sources


@pytest.fixture(autouse=True)
def _no_folder_is_clean_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "_cleaned", set())


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.dbr"
    path.write_bytes(b"old")
    return path


def spellings(source: Path) -> dict[str, Path]:
    folder = source.parent
    (folder / "sub").mkdir()
    os.link(source, folder / "hard.dbr")
    (folder / "soft.dbr").symlink_to("in.dbr")
    (folder / "softer.dbr").symlink_to("soft.dbr")
    (folder / "also").symlink_to(folder, target_is_directory=True)
    return {
        "as it is": source,
        "another way": folder / "sub" / ".." / "in.dbr",
        "relative": Path(os.path.relpath(source)),
        "hard link": folder / "hard.dbr",
        "symbolic link": folder / "soft.dbr",
        "link to a link": folder / "softer.dbr",
        "linked folder": folder / "also" / "in.dbr",
    }


def test_no_spelling_of_an_input_is_written(source: Path) -> None:
    for name, path in spellings(source).items():
        for one, other in ((path, source), (source, path)):
            assert is_same(one, other), name
            with protected([other]), pytest.raises(TreemeanError, match="overwrite an input"):
                write_file(one, b"new")
    assert source.read_bytes() == b"old"
    write_file(source, b"new")  # nobody protects it any more
    assert source.read_bytes() == b"new"


def test_files_of_an_input_folder_are_inputs(tmp_path: Path, source: Path) -> None:
    with protected([tmp_path]):
        with pytest.raises(TreemeanError, match=r"in\.dbr"):
            write_file(source, b"new")
        write_file(tmp_path / "out.dbr", b"new")  # it was not there
    elsewhere = tmp_path.parent / f"{tmp_path.name}-linked.dbr"
    os.link(source, elsewhere)
    assert is_same(elsewhere, tmp_path)
    assert not is_same(tmp_path / "none", source)
    assert not is_same(os.devnull, os.devnull)  # it keeps nothing
    assert not is_same("-", source)


def test_links_are_written_through(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    for name in ("there", "not there yet"):
        target, link = tmp_path / "real" / name, tmp_path / f"link to {name}"
        link.symlink_to(Path("real", name))
        if name == "there":
            target.write_bytes(b"old")
        write_file(link, b"new")
        assert link.is_symlink()
        assert target.read_bytes() == b"new"
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(TreemeanError, match="a: Too many levels of symbolic links"):
        write_file(tmp_path / "a", b"new")
    assert (tmp_path / "a").is_symlink()


def test_permissions_stay(tmp_path: Path, source: Path) -> None:
    source.chmod(0o640)
    write_file(source, b"new")
    assert source.stat().st_mode & 0o777 == 0o640
    before = os.umask(0o027)
    try:
        write_file(tmp_path / "fresh", b"new")
    finally:
        os.umask(before)
    assert (tmp_path / "fresh").stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_what_must_not_be_written_is_not_replaced(source: Path) -> None:
    source.chmod(0o440)
    with pytest.raises(TreemeanError, match="Permission denied"):
        write_file(source, b"new")


def test_devices_and_open_files_are_written_as_they_are(tmp_path: Path) -> None:
    write_file(os.devnull, b"new")
    with open(tmp_path / "out", "wb") as file:
        write_file(f"/dev/fd/{file.fileno()}", b"new")
    assert (tmp_path / "out").read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("name", ["x" * 250, "ü" * 120, "." * 9, "[x] \x1b\n%s{}"])
def test_odd_names(tmp_path: Path, name: str) -> None:
    write_file(tmp_path / name, b"new")
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
def test_what_cannot_be_a_name_is_told(tmp_path: Path, name: str) -> None:
    path = f"{tmp_path}/{name}"
    with pytest.raises(TreemeanError, match="no file can have this name"):
        write_file(path, b"new")
    with pytest.raises(TreemeanError, match="no file can have this name"), open_folder(path):
        pass
    with pytest.raises(TreemeanError, match="no file can have this name"):
        next(open_sources(path))


KILLED = """
import os, signal, sys
from treemean.files.output import open_output
with open_output(sys.argv[1]) as stream:
    stream.write(b"half")
    stream.flush()
    print("written", flush=True)
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_leftovers_of_the_dead_are_removed_and_those_of_the_living_are_not(tmp_path: Path) -> None:
    def start(name: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(tmp_path / name)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "written\n"
        return process

    dead, living = start("dead"), start("living")
    (tmp_path / ".somebody.else.part").write_bytes(b"")
    dead.communicate("")
    assert sorted(path.name[:6] for path in tmp_path.iterdir()) == [".dead.", ".livin", ".someb"]
    write_file(tmp_path / "out", b"new")
    assert sorted(path.name[:6] for path in tmp_path.iterdir()) == [".livin", ".someb", "out"]
    living.communicate("")


def test_the_folder_of_a_killed_command_is_removed_by_the_next(tmp_path: Path) -> None:
    def begin(name: str) -> subprocess.Popen[bytes]:
        """Start a command that has written some files of its folder, and waits for more trees."""
        command = ["convert", "-", f"{tmp_path / name}/", "--from", "discbracket", "--to", "alpino"]
        process = subprocess.Popen([sys.executable, "-m", "treemean", *command], stdin=subprocess.PIPE)
        assert process.stdin is not None
        process.stdin.write(b"(S (A 0=a) (B 1=b))\n" * 1100 + b"(S (A 0=" + b"x" * (1 << 20))
        process.stdin.flush()
        while not list(tmp_path.glob(f".{name}.*.folder/*")):
            assert process.poll() is None
            time.sleep(0.01)
        return process

    dead, living = begin("dead"), begin("living")
    dead.kill()
    dead.communicate()
    assert {path.name[:6] for path in tmp_path.iterdir()} == {".dead.", ".livin"}
    with open_folder(tmp_path / "out") as folder:
        (folder / "1.xml").write_bytes(b"new")
    assert {path.name[:6] for path in tmp_path.iterdir()} == {".livin", "out"}
    assert os.listdir(tmp_path / "out") == ["1.xml"]
    living.kill()
    living.communicate()
    write_file(tmp_path / "file", b"new")  # this process has looked here before
    parts.remove_leftovers(tmp_path, again=True)
    assert {path.name for path in tmp_path.iterdir()} == {"file", "out"}


def test_a_failed_folder_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), open_folder(tmp_path / "out") as folder:
        (folder / "1.xml").write_bytes(b"half")
        raise ZeroDivisionError
    assert os.listdir(tmp_path) == []


def test_a_link_to_an_empty_folder_is_written_through(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with open_folder(tmp_path / "link") as folder:
        (folder / "1.xml").write_bytes(b"new")
    assert (tmp_path / "link").is_symlink()
    assert os.listdir(tmp_path / "real") == ["1.xml"]
    with pytest.raises(TreemeanError, match="link: the folder is not empty"), open_folder(tmp_path / "link"):
        pass


def test_a_failed_output_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), open_output(tmp_path / "out.gz") as stream:
        stream.write(b"half")
        raise ZeroDivisionError
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_files_of_users_stay(tmp_path: Path, name: str) -> None:
    paths = [tmp_path / name, tmp_path / "b.txt"]

    def write(text: bytes, **options: bool) -> None:
        with all_or_none(paths, **options) as places:
            for path in paths:
                write_file(places[path], text)

    write(b"one")
    first = paths[0].read_bytes()
    write(b"one")  # the same again
    paths[1].write_bytes(b"mine")
    with pytest.raises(TreemeanError, match=r"b\.txt: this file exists with other content"):
        write(b"one")
    paths[0].unlink()
    with pytest.raises(TreemeanError):
        write(b"one")
    assert not paths[0].exists()
    assert paths[1].read_bytes() == b"mine"
    write(b"one", overwrite=True)
    assert paths[0].read_bytes() == first
    assert paths[1].read_bytes() == b"one"
