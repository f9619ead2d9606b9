"""What is known of other code, and of the data: constants that the tables put beside what is measured."""

from __future__ import annotations

#: Milliseconds of the public TN-LCFRS code on one H200, published sizes, 20 sentences, by their length: a
#: whole training step in its Triton version and in its CUDA version, and MBR trees in the better of the two.
PUBLIC = {10: (57, 56, 36), 20: (84, 110, 94), 30: (153, 218, 166), 40: (319, 434, 361)}
#: Its memory at 40 words in GB, likewise.
PUBLIC_MEMORY = (8.6, 3.1)

#: How many of the 74,662 Dutch training sentences have 2, 3, …, 40 words (punctuation left out).
SENTENCES_BY_LENGTH = dict(
    enumerate(
        [
            *(778, 1514, 2464, 3094, 3713, 3854, 4082, 4154, 4075, 3920, 3898, 3835, 3621, 3546, 3337, 2969),
            *(2822, 2461, 2130, 1703, 1453, 1381, 1232, 1102, 956, 850, 816, 735, 580, 606, 485, 454, 395),
            *(359, 329, 279, 257, 222, 201),
        ],
        2,
    )
)


def public_step(n: int) -> int:
    """Return the milliseconds of a step of the public code, the better of its two versions."""
    return min(PUBLIC[n][:2])


def public_trees(n: int) -> int:
    """Return the milliseconds of its MBR trees."""
    return PUBLIC[n][2]
