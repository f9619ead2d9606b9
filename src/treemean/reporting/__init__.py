"""What came out, for people to look at: tables (and later figures and pages)."""

from treemean.reporting.evaluation import comparison_table, evaluation_tables, protocol_notes
from treemean.reporting.statistics import statistics_tables
from treemean.reporting.tables import Table

__all__ = ["Table", "comparison_table", "evaluation_tables", "protocol_notes", "statistics_tables"]
