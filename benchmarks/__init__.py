"""What is measured, and what the docs show of it: `python -m benchmarks.<area>` from the project's root.

cpu        speed of reading, scoring, averaging and the inside algorithms; fitted hits; the sample's ensemble
kernels    kernels on a GPU: checks against float64 and their gate, the soak test, times of steps and trees
learning   training on a GPU: quality, ensembles, long runs, reproducibility, and the data for them
page       from the JSON files of the last two to the tables and figures of docs/measurements/gpu.md

Nothing needs to be installed for `kernels` and `learning` but PyTorch, Triton, NumPy and safetensors:
PYTHONPATH=src is enough there. Only `learning.average` wants all of treemean.
"""

import time

#: When the program began: before PyTorch is imported, which takes seconds.
BEGAN = time.monotonic()
