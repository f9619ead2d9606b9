"""What docs/sample.md says is what happens."""

import doctest
from pathlib import Path


def test_the_examples_of_the_documentation_run():
    page = Path(__file__).parents[2] / "docs" / "sample.md"
    failed, attempted = doctest.testfile(str(page), module_relative=False)
    assert attempted > 10
    assert failed == 0
