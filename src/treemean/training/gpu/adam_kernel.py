# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""The kernel of Adam for several runs whose numbers lie one behind the other."""

from __future__ import annotations

import triton
import triton.language as tl

#: How many numbers a program changes.
AT_ONCE = 2048
#: What it has to know of a run: whether to skip it, the divisor of its gradients, its rate over the
#: correction of first moments, and the root of the correction of second moments.
FACTORS = 4
_FACTORS = tl.constexpr(FACTORS)


@triton.jit
def adam(
    parameters,
    gradients,
    first,
    second,
    factors,
    size,
    NEW1: tl.constexpr,
    NEW2: tl.constexpr,
    EPSILON: tl.constexpr,
    DECAY: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Change some of the ``size`` numbers that a run has of a parameter, and their moments.

    NEW1 and NEW2 are what new gradients weigh in the moments, one minus beta.
    """
    run = tl.program_id(1).to(tl.int64)
    factors += run * _FACTORS
    if tl.load(factors) == 0:
        divisor = tl.load(factors + 1)
        rate = tl.load(factors + 2)
        root = tl.load(factors + 3)
        place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        real = place < size
        at = run * size + place
        x = tl.load(parameters + at, mask=real, other=0.0)
        gradient = tl.load(gradients + at, mask=real, other=0.0) / divisor
        if DECAY > 0:
            gradient += x * DECAY
        m = tl.load(first + at, mask=real, other=0.0)
        m += (gradient - m) * NEW1
        v = tl.load(second + at, mask=real, other=0.0)
        v += (gradient * gradient - v) * NEW2
        x -= rate * m / (tl.sqrt(v) / root + EPSILON)
        tl.store(first + at, m, mask=real)
        tl.store(second + at, v, mask=real)
        tl.store(parameters + at, x, mask=real)
