"""Descriptions in JSON that hold the checksum of their own content, so that damage is noticed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from treemean.files.checksums import content_checksum

_SEAL = "sha256"


def sealed(content: Mapping[str, Any], *, ensure_ascii: bool = True) -> bytes:
    """Return the file of a JSON-ready description, with its checksum.

    >>> print(sealed({"version": 1}).decode())
    {
     "version": 1,
     "sha256": "c3aa9744214caf6eb993d6f88f3f1dda3e4e60d59f712b6463c4ce2c4b00dfa1"
    }
    <BLANKLINE>
    """
    told = json.loads(json.dumps(content))  # as it will be read: tuples are lists, keys are texts
    return (
        json.dumps({**told, _SEAL: content_checksum(told)}, indent=1, ensure_ascii=ensure_ascii).encode()
        + b"\n"
    )


def unsealed(data: bytes) -> dict[str, Any]:
    """Return the description that a file holds, without its checksum.

    Raises `ValueError` if it is damaged. Files that were written without a checksum are taken as they are.

    >>> unsealed(sealed({"version": 1})), unsealed(b'{"version": 1}')
    ({'version': 1}, {'version': 1})
    """
    try:
        told = json.loads(data)
    except RecursionError as error:
        raise ValueError("brackets are nested too deeply") from error
    if not isinstance(told, dict):
        raise ValueError("it is not a JSON object")
    if _SEAL in told and told.pop(_SEAL) != content_checksum(told):
        raise ValueError("its content does not fit the checksum that was written with it")
    return told
