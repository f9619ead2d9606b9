"""`python -m treemean` is the command line."""

from treemean.cli import main

main()
