"""What came out, for people to look at: tables, rows of data and figures."""

from treemean.evaluation.rows import sentence_rows
from treemean.files.rows import rows_format
from treemean.reporting.evaluation import comparison_table, evaluation_tables, protocol_notes
from treemean.reporting.sentences import write_per_sentence
from treemean.reporting.statistics import statistics_tables
from treemean.reporting.tables import Table
from treemean.reporting.tidy import comparison_rows, evaluation_rows

__all__ = [
    "Table",
    "comparison_rows",
    "comparison_table",
    "evaluation_rows",
    "evaluation_tables",
    "protocol_notes",
    "rows_format",
    "sentence_rows",
    "statistics_tables",
    "write_per_sentence",
]
