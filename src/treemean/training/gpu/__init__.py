"""Steps of one run or of several runs together, on a GPU each as one CUDA graph.

`StackedLearner` holds the parameters of E runs side by side and makes one step of all of them at a time. What
a training loop sees is a `RunLearner`, one of them, which keeps to the protocol `Learner`. Other than on a
GPU the same steps are computed as PyTorch comes to them.
"""

from treemean.training.gpu.learner import RunLearner, StackedLearner

__all__ = ["RunLearner", "StackedLearner"]
