"""Choosing trees: the best expected one, the most probable derivation, samples."""
