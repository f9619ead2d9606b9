"""The paper's experiments, from raw text or from trees to its tables and figures."""
