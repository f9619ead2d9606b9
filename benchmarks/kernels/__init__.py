"""Kernels on a GPU: first whether they are right, then how fast they are."""
