"""What holds for all formats: files by name or content, gzip, standard streams, and reading in pieces."""

from __future__ import annotations

import io
import sys

import pytest
from format_helpers import WAKE, trees_in, written
from fuzzing import check_reader

import treemean
from treemean.formats import Problems, all_formats
from treemean.formats.continuity import is_continuous_only
