"""The names from which users choose, each list once, for the command line, configurations and rooms alike.

A room that has something under each of these names, such as a reader for every format, keeps it in a registry
of its own; `tests/test_names.py` checks that both have the same names.
"""

from __future__ import annotations

from typing import Literal

# ---- files ------------------------------------------------------------------------------------------

#: Treebank formats (`formats.registry`).
FormatName = Literal[
    "alpino", "conllu", "discbracket", "export", "export4", "jsonl", "parquet", "ptb", "tiger"
]
#: What files to train on can be in; empty: what their names tell.
FileFormat = Literal["", "text", FormatName]

#: Dialects of continuous brackets (`formats.dialects`); the first lets the content tell.
DialectName = Literal["auto", "ptb", "helsinki", "helsinki-lemma", "tag-word-lemma", "word-slash-tag"]
#: What happens to trees that a format cannot express (`formats.writing`).
OnUnwritable = Literal["error", "skip", "make-continuous"]
#: How tables are printed.
TableFormat = Literal["table", "markdown", "csv", "json"]

# ---- trees ------------------------------------------------------------------------------------------

#: How constituents of more than two children are divided: from one side, or in halves.
Direction = Literal["left", "right", "balanced"]
#: The same, or so that heads stay with what is left of a constituent.
BinarisingRule = Literal[Direction, "head"]
#: Trees that need no grammar (`trees.branching`).
BranchingRule = Literal["left", "right", "random"]
#: What happens to grammatical functions: they stay, go, or move to labels and from there.
FunctionRule = Literal["keep", "drop", "join", "split"]
#: Which label of a unary chain stays.
ChainLabel = Literal["top", "bottom", "join"]
#: Files of drawings, by the ends of their names (`trees.drawing.files`).
DrawingFormat = Literal["svg", "png", "pdf", "tex", "txt"]
#: What rows of a data frame stand for (`trees.frames`).
FrameRows = Literal["sentences", "constituents", "words"]
#: Languages of the generator (`sample.generator.LANGUAGES`).
Language = Literal["nl", "de", "en"]

# ---- averages ---------------------------------------------------------------------------------------

#: Methods of averaging (`averaging.METHODS`).
MethodName = Literal[
    "exact",
    "meet-in-the-middle",
    "exhaustive",
    "dynamic-programming",
    "integer-programming",
    "cyk",
    "greedy",
    "select",
    "majority",
]
#: Whether averages of labelled trees have unary chains.
Unaries = Literal["keep", "none"]
#: What decides between equally good trees.
TieRule = Literal["canonical", "right", "left"]
#: Models of what constituents are worth (`fitting.MODELS`).
HitModelName = Literal[
    "boosted", "logistic", "signed", "typed", "scalar", "agreement", "em", "equal", "apart"
]
#: How the individuals of an ensemble, which are of one kind, are weighed: by the paper's rule, equally, or by
#: a fitted model.
EnsembleModel = Literal[
    "paper", "boosted", "logistic", "signed", "typed", "scalar", "agreement", "em", "equal"
]
#: Which F1 a fit is to make high.
Target = Literal["overall", "disc", "both"]
#: What is maximised with fitted hits (`fitting.models.objectives`).
ObjectiveName = Literal["corpus", "sentence", "expected"]
#: Which runs are asked in a fit.
SelectionRule = Literal["all", "top", "forward", "backward"]
#: What weighs an individual of an ensemble: its development F1 of one kind of constituents, or nothing.
WeightRule = Literal["discontinuous", "overall", "continuous", "equal"]
#: Which models of trained runs are averaged: the selected one of each, or those of all epochs.
Individuals = Literal["runs", "epochs"]

# ---- evaluation -------------------------------------------------------------------------------------

#: Protocols by which trees are scored (`evaluation.PROTOCOLS`).
ProtocolName = Literal["standard", "paper", "discodop", "sentence"]
#: Which constituents are counted.
Metric = Literal["overall", "continuous", "discontinuous"]
#: Tests of significance: improved nonrandomised sign test, sign test, paired bootstrap.
SignificanceTest = Literal["ins", "sign", "bootstrap"]
#: How sentences of different files are brought together.
Match = Literal["position", "id"]

#: Tables and figures of the paper (`experiments.paper.EXPERIMENTS`).
ExperimentName = Literal[
    "main", "positives", "correlation", "individuals", "pruning", "run-time", "labels", "cases", "agreement"
]

# ---- many processes ---------------------------------------------------------------------------------

#: What runs a job over shards (`scaling.engines`).
EngineName = Literal["local", "ray"]

# ---- parsers ----------------------------------------------------------------------------------------

#: Grammars (`grammars.config.PUBLISHED`).
GrammarKind = Literal["n-pcfg", "c-pcfg", "tn-pcfg", "n-lcfrs", "c-lcfrs", "tn-lcfrs"]
#: How the inside algorithm is computed; the first leaves that to the grammar.
BackendName = Literal["auto", "naive", "torch", "triton"]
#: By what the best epoch is chosen.
EpochRule = Literal["f1", "likelihood"]
#: Which sentences make a batch: of one length, or of similar ones.
BatchLengths = Literal["equal", "mixed"]
#: How the learning rate changes.
Schedule = Literal["constant", "linear", "cosine"]
#: What numbers models have while they are trained.
Precision = Literal["float32", "float64"]
#: Which tree is read from a chart: of least expected error, or of the best derivation.
DecoderName = Literal["mbr", "viterbi"]
#: What parsers do not see: punctuation by tag, by word, by tag where there are tags; or they see all.
PunctuationRule = Literal["auto", "tag", "word", "keep"]
#: Where punctuation stands in the trees of a parser.
PutBack = Literal["keep-out", "put-back", "root"]
