"""The page docs/gpu.md: what was measured becomes one JSON file, tables and figures."""
