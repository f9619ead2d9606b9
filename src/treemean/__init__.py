"""treemean."""
