"""Write the files of the sample into a folder: `python -m treemean.sample FOLDER`."""

from __future__ import annotations

import argparse
import sys

from treemean.errors import TreemeanError
from treemean.printing import harmless
from treemean.sample.embedded import write_sample


def main() -> None:
    """Read the command line and write the sample."""
    parser = argparse.ArgumentParser(prog="python -m treemean.sample", description=__doc__)
    parser.add_argument("folder", help="where the files go; made if it does not exist")
    try:
        write_sample(parser.parse_args().folder)
    except TreemeanError as error:
        sys.exit(f"error: {harmless(str(error))}")


if __name__ == "__main__":
    main()
