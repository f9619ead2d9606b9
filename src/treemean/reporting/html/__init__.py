"""The report that people open: one self-contained HTML file with tables, charts, and all trees to explore."""

from treemean.reporting.html.page import LIMIT, Page, make_page
from treemean.reporting.html.subject import Side, Subject, compare_sides

__all__ = ["LIMIT", "Page", "Side", "Subject", "compare_sides", "make_page"]
