"""Adam of several runs by a kernel, against that of PyTorch and that of a single run."""

from __future__ import annotations

import pytest
import torch

from treemean.training.adam import Adam
from treemean.training.gpu import adam, adam_kernel
from treemean.training.sections import OptimiserConfig

pytestmark = pytest.mark.usefixtures("poisoned")
SHAPES = [(3, 5), (7,), (40, 16)]


@pytest.mark.parametrize("decay", [0.0, 0.1])
@pytest.mark.parametrize("apart", [False, True])
def test_each_run_takes_the_steps_of_adam(
    decay: float, apart: bool, monkeypatch: pytest.MonkeyPatch, device: str
) -> None:
    """Three runs with rates, scales and decisions of their own; what is skipped may be no number."""
    monkeypatch.setattr(adam, "_has_kernel", lambda parameter: True)
    monkeypatch.setattr(adam_kernel, "AT_ONCE", 256)
    used = []
    plain = adam.StackedAdam._step_together
    monkeypatch.setattr(adam.StackedAdam, "_step_together", lambda *given: (used.append(1), plain(*given))[1])
    torch.manual_seed(3)
    config = OptimiserConfig(weight_decay=decay, epsilon=1e-6)
    stacked = [torch.randn(3, *shape, device=device) for shape in SHAPES]
    single = [[torch.nn.Parameter(tensor[run].cpu().double()) for tensor in stacked] for run in range(3)]
    ours, theirs = adam.StackedAdam(stacked, config), [Adam(own, config) for own in single]
    for step in range(12):
        gradients = [torch.randn(3, *shape) for shape in SHAPES]
        rates, scales = torch.tensor([0.1, 0.02, 0.3]) / (step + 1), torch.tensor([1.0, 2.5, 40.0])
        skipped = step % 3
        for run in range(3):
            for parameter, gradient in zip(single[run], gradients):
                parameter.grad = gradient[run].double() / scales[run].double()
            if run != skipped:
                theirs[run].step(float(rates[run]))
        gradients[0][skipped] = float("nan")
        skips = torch.zeros(3)
        skips[skipped] = 1
        given = [gradient.to(device) for gradient in gradients]
        own = {run: [x[run].clone() if apart else x[run] for x in given] for run in range(3)}
        ours.step(own, *(x.to(device) for x in (rates, scales, skips)))
    assert len(used) == (0 if apart else 12)
    for run in range(3):
        for tensor, parameter in zip(stacked, single[run]):
            torch.testing.assert_close(tensor[run].cpu().double(), parameter.detach(), rtol=1e-5, atol=1e-6)
        expected = theirs[run].state()
        for name, found in ours.state(run).items():
            if name == "steps":
                assert found.tolist() == expected[name].tolist()
            else:
                torch.testing.assert_close(found.cpu().double(), expected[name], rtol=1e-5, atol=1e-6)
