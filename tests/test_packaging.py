"""What is shipped: the type marker and all data files are in the wheel, and its metadata are complete."""

from __future__ import annotations

import shutil
import tarfile
import tomllib
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest

import treemean
from commands import program, python

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "treemean"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """Build the wheel as pip does, but without the core, which would take a minute."""
    folder = tmp_path_factory.mktemp("wheel")
    settings = {"wheel.cmake": "false", "wheel.py-api": "py3", "build-dir": str(folder / "build")}
    code = f"from scikit_build_core.build import build_wheel; build_wheel({str(folder)!r}, {settings!r})"
    python("-c", code, cwd=ROOT)
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path)


@pytest.fixture(scope="module")
def metadata(wheel: zipfile.ZipFile) -> Message:
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    return Parser().parsestr(wheel.read(name).decode())


def test_the_type_marker_is_shipped(wheel: zipfile.ZipFile) -> None:
    assert (SOURCE / "py.typed").is_file()
    assert {"treemean/py.typed", "treemean/_core.pyi"} <= set(wheel.namelist())


def test_all_files_of_the_package_are_shipped(wheel: zipfile.ZipFile) -> None:
    files = {path for path in SOURCE.rglob("*") if path.is_file() and path.suffix not in (".pyc", ".so")}
    assert {path.relative_to(SOURCE.parent).as_posix() for path in files} <= set(wheel.namelist())


@pytest.mark.skipif(
    shutil.which("git") is None or not (ROOT / ".git").exists(),
    reason="what belongs to the project is not known",
)
def test_the_source_distribution_has_everything(tmp_path: Path) -> None:
    listed = program("git", "ls-files", cwd=ROOT)
    tracked = {name for name in listed.stdout.splitlines() if (ROOT / name).is_file()}
    copy = tmp_path / "copy"  # without the environment, whose many files would all be looked at
    for name in tracked:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, copy / name)
    code = f"from scikit_build_core.build import build_sdist; print(build_sdist({str(tmp_path)!r}))"
    python("-c", code, cwd=copy)
    (path,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        shipped = {name.partition("/")[2] for name in archive.getnames()}
    assert tracked <= shipped


def test_what_helps_to_begin_is_imported_late() -> None:
    """`import treemean` and `treemean --help` are quick because they import hardly anything."""
    code = (
        "import sys, treemean; few = set(sys.modules)\n"
        "from treemean.cli import app\n"
        "app(['--help'], standalone_mode=False)\n"
        "heavy = {'numpy', 'lxml', 'torch', 'pyarrow', 'matplotlib', 'scipy', 'pandas'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "assert not {'typer', 'rich'} & few, few"
    )
    python("-c", code)


def test_the_metadata_are_complete(metadata: Message) -> None:
    assert metadata["Name"] == "treemean"
    assert metadata["Version"] == treemean.__version__
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Requires-Python"] == ">=3.11"
    for field in ("Summary", "Author", "Keywords", "Description-Content-Type"):
        assert metadata[field], field
    assert "Typing :: Typed" in metadata.get_all("Classifier", [])
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(metadata.get_all("Provides-Extra", [])) == set(extras)


def test_the_citation_is_of_this_version() -> None:
    lines = (ROOT / "CITATION.cff").read_text().splitlines()
    assert f"version: {treemean.__version__}" in lines
    assert "license: Apache-2.0" in lines
