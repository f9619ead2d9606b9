"""How much runs agree with each other, and where they do not; no gold trees are needed."""

from treemean.agreement.chance import Chance, of_pairs, with_others
from treemean.agreement.results import Agreement, Disputed, DisputedSentence, Told
from treemean.agreement.scores import agree

__all__ = ["Agreement", "Chance", "Disputed", "DisputedSentence", "Told", "agree", "of_pairs", "with_others"]
