"""The report that people open: one self-contained HTML file with tables, charts, and all trees to explore."""

from treemean.reporting.html.comparing import MOST, compare_given, compare_sides
from treemean.reporting.html.page import LIMIT, Page, make_page
from treemean.reporting.html.parts import Given
from treemean.reporting.html.subject import Side, Subject

__all__ = ["LIMIT", "MOST", "Given", "Page", "Side", "Subject", "compare_given", "compare_sides", "make_page"]
