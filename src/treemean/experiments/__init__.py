"""The paper's experiments, from raw text to a table."""
