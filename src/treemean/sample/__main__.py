"""Write the files of the sample into a folder: `python -m treemean.sample FOLDER`."""

from __future__ import annotations

import argparse

from treemean.sample.embedded import write_sample


def main() -> None:
    """Read the command line and write the sample."""
    parser = argparse.ArgumentParser(prog="python -m treemean.sample", description=__doc__)
    parser.add_argument("folder", help="where the files go; made if it does not exist")
    write_sample(parser.parse_args().folder)


if __name__ == "__main__":
    main()
