"""How much runs agree with each other, and where they do not; no gold trees are needed."""

from treemean.agreement.chance import Chance, of_pairs, with_others
from treemean.agreement.results import Agreement, AgreementResult, Disputed, DisputedSentence
from treemean.agreement.scores import agree

__all__ = [
    "Agreement",
    "AgreementResult",
    "Chance",
    "Disputed",
    "DisputedSentence",
    "agree",
    "of_pairs",
    "with_others",
]

#: What `AgreementResult` was called.
Told = AgreementResult
