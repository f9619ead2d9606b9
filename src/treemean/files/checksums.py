"""SHA-256 of files, folders and JSON data."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any


def checksum(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file, or of the names and contents of all files in a folder."""
    if os.path.isdir(path):
        inside = sorted(entry for entry in Path(path).rglob("*") if entry.is_file())
        sums = [f"{entry.relative_to(path)} {checksum(entry)}" for entry in inside]
        return hashlib.sha256("\n".join(sums).encode()).hexdigest()
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def content_checksum(data: Any) -> str:
    """Return the SHA-256 of JSON-ready data, however it is spaced and ordered.

    >>> content_checksum({"a": 1, "b": 2}) == content_checksum({"b": 2, "a": 1})
    True
    """
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
