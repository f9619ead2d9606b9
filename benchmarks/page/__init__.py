"""The page docs/measurements/gpu.md: what was measured becomes one JSON file, tables and figures."""
