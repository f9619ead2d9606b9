"""One run: epochs of steps, each measured on the development set, until nothing gets better.

The loop asks for steps and does not know how they are made, see `learner.py`. Everything on which it depends
is in `RunState` and in the learner's tensors, which checkpoints hold: a run that goes on from one continues
as if it had not been interrupted, on the CPU to the last bit.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from treemean.errors import NumericalError
from treemean.grammars import Grammar
from treemean.parsing.model import TENSORS, software, write_model
from treemean.training.batches import BatchOrder
from treemean.training.checkpoints import Checkpoints
from treemean.training.corpus import Data
from treemean.training.development import DevelopmentScores, measure, perplexity
from treemean.training.distributed import World
from treemean.training.divergence import Watch
from treemean.training.folders import Metrics, NoModel, RunFolder, RunResult, checksum_of
from treemean.training.learner import Learner, Request, StepOutcome
from treemean.training.progress import Progress, Watcher, described_redone, short
from treemean.training.schedule import learning_rate
from treemean.training.sections import TrainingConfig
from treemean.training.state import EpochSums, RunState
from treemean.training.stopping import Stop, Stopped

#: What tensors of a checkpoint are for: to go on, to go back to after trouble, and the selected model.
_CURRENT, _GOOD, _BEST = "current", "good", "best"


class Loop:
    """The loop of one run.

    Parameters
    ----------
    config, data : what to learn, and from what.
    learner : the parameters and their optimiser, as they are at the beginning of a run.
    folder : of the run.
    world : the processes that share the work; only the first one writes.
    progress : is called with what happens.
    stop : tells when to end early; then the state is kept and `Stopped` raised.
    """

    def __init__(
        self,
        config: TrainingConfig,
        data: Data,
        learner: Learner,
        folder: RunFolder,
        world: World,
        progress: Watcher | None = None,
        stop: Stop | None = None,
    ) -> None:
        self._config, self._data, self._learner, self._folder = config, data, learner, folder
        self._world, self._tell = world, progress if world.is_main else None
        self._stop: Stop = (lambda: bool(world.share(stop))) if stop is not None else (lambda: False)
        self._order = BatchOrder(data.train.lengths, config, folder.run)
        self._total_steps = self._order.count_from(1, config.training.epochs)
        self._is_exact = config.training.precision == "float64"  # whatever is asked for
        self._checkpoints = Checkpoints(
            folder.checkpoint, checksum_of(config, data.facts), spare=folder.model / TENSORS
        )
        self._state = RunState()
        self._metrics: Metrics | None = None
        self._words_here = 0  # trained on since this process began

    # ---- the whole ------------------------------------------------------------------------------

    def steps(self) -> Generator[Request, Tensor, RunResult]:
        """Yield requests for steps; each outcome is to be sent back. Returns the result of the run."""
        self._begin()
        self._clock = self._began = self._saved = time.monotonic()
        self._seconds_before = self._state.seconds
        try:
            while not self._state.finished:
                yield from self._epoch()
        finally:
            if self._metrics is not None:
                self._metrics.close()
        result = self._result()
        self._say("end", message=result.finished, development=result.metrics)
        return result

    def _begin(self) -> None:
        """Go on from the last checkpoint, or write the first one."""
        state = self._checkpoints.load(RunState.from_dict)
        if state is None:
            self._note(self._data.describe())
        else:
            self._state = state
            try:
                self._learner.load_state(self._checkpoints.tensors(_CURRENT))
            except (KeyError, TypeError, AttributeError, RuntimeError) as error:
                raise self._checkpoints.foreign(error) from error
            for note in self._checkpoints.notes:
                self._note(note)
            self._note(f"going on after step {self._state.step}")
        self._world.wait()  # all have read before the first one writes
        if self._world.is_main:
            self._folder.path.mkdir(parents=True, exist_ok=True)
            self._metrics = Metrics(self._folder.metrics, self._state.metrics_size)
            if self._metrics.lost:
                self._note(
                    f"{self._folder.metrics} was removed or shortened: some of what was measured is missing"
                )
            self._checkpoints.mend()
            if state is None:
                self._save(good=True)
            elif self._state.best is not None:
                self._export_best(self._checkpoints.tensors(_BEST))  # perhaps it was killed before it could
        self._world.wait()

    def _result(self) -> RunResult:
        state = self._state
        if state.best is None:
            raise NoModel(
                f"run {self._folder.run} ended without a model: {state.finished}. Train in another "
                "folder, with a lower optimiser.rate"
            )
        return RunResult(
            run=self._folder.run,
            model=self._folder.model,
            select=self._config.training.select,
            epoch=state.best_epoch,
            metrics=state.best.to_dict(),
            finished=state.finished,
            steps=state.step,
            seconds=state.seconds,
        )

    # ---- an epoch -------------------------------------------------------------------------------

    def _epoch(self) -> Generator[Request, Tensor, None]:
        state, every = self._state, self._config.training.report_every
        batches = self._order.of_epoch(state.epoch)
        while state.place < len(batches):
            part = batches[state.place : state.place + every]
            requests, outcomes = [], []
            for number, places in enumerate(part):
                words, lengths = self._data.train.batch(places)
                count = int(self._data.train.lengths[places].sum())
                limit = state.watch.limit(*_shape(count, words), self._config.recovery)
                step = state.step + number
                guides = self._data.guides
                weights = None if guides is None else guides.weights(places, self._config.training)
                request = Request(words, lengths, count, self._rate(step), limit, step, weights=weights)
                requests.append(request)
                outcomes.append((yield request))
            numbers: list[list[float]] = torch.stack(outcomes).tolist()
            redone = yield from self._redo(requests, numbers)
            state.place += len(part)
            state.step += len(part)
            self._account(requests, numbers, len(batches), redone)
            if state.finished:
                break
            if state.place < len(batches):
                stop = self._stop()
                if self._is_due() or (stop and self._world.is_main):
                    self._save()
                if stop:
                    raise Stopped
        self._end_epoch()
        if not state.finished and self._stop():
            raise Stopped

    def _redo(self, requests: list[Request], outcomes: list[list[float]]) -> Generator[Request, Tensor, int]:
        """Ask once more, in float64, for steps that are not finite; return how many.

        Their outcomes are replaced; see `grammars.nan_policy` for the policy. These steps come after others
        that were asked for later, since nobody waited for the device until now.
        """
        if self._is_exact:
            return 0
        redone = made = 0
        for place, (request, outcome) in enumerate(zip(requests, outcomes)):
            if all(map(math.isfinite, outcome)):
                continue
            redone += 1
            outcomes[place] = (yield replace(request, exact=True)).tolist()
            applied = outcomes[place][StepOutcome.APPLIED] == 1
            made += applied
            self._record("redo", applied=applied, norm=outcomes[place][StepOutcome.NORM])
        if redone:
            self._note(described_redone(redone, made, len(requests)))
        return redone

    def _rate(self, step: int) -> float:
        return self._state.factor * learning_rate(self._config.optimiser, step, self._total_steps)

    def _account(self, requests: list[Request], outcomes: list[list[float]], steps: int, redone: int) -> None:
        """Take note of some steps: sums, metrics, progress, and whether something went wrong."""
        state, recovery = self._state, self._config.recovery
        part = EpochSums(redone=redone)
        for request, outcome in zip(requests, outcomes, strict=True):
            applied = outcome[StepOutcome.APPLIED] == 1
            objective = (outcome[StepOutcome.LIKELIHOOD] + outcome[StepOutcome.DIVERGENCE]) / request.count
            state.watch.add(objective, *_shape(request.count, request.words), applied, recovery)
            if applied:
                part.likelihood += outcome[StepOutcome.LIKELIHOOD]
                part.divergence += outcome[StepOutcome.DIVERGENCE]
                part.words += request.count
                part.sentences += len(request.words)
            else:
                part.skipped += 1
                norm = outcome[StepOutcome.NORM]
                self._record("skip", objective=objective, norm=norm, limit=request.limit)
                self._note(f"a step was left out: objective per word {short(objective, 3)}, norm {norm:.3g}")
        for name, value in asdict(part).items():
            setattr(state.sums, name, getattr(state.sums, name) + value)
        self._report(requests, outcomes, part, steps)
        trouble = state.watch.trouble(recovery)
        if trouble:
            self._go_back(trouble)

    def _report(
        self, requests: list[Request], outcomes: list[list[float]], part: EpochSums, steps: int
    ) -> None:
        now = time.monotonic()
        words = sum(request.count for request in requests)
        self._words_here += words
        speed = words / max(now - self._clock, 1e-9)
        self._clock = now
        self._state.seconds = self._seconds_before + now - self._began
        loss = (part.likelihood + part.divergence) / max(part.sentences, 1)
        each = perplexity(part.likelihood, part.words) if part.words else 0.0
        rate = requests[-1].rate
        self._record(
            "step", loss=loss, perplexity=each, rate=rate, norm=outcomes[-1][StepOutcome.NORM], words=words,
            redone=part.redone, words_per_second=speed, seconds=self._state.seconds,
        )  # fmt: skip
        self._say(
            "step", step=self._state.place, steps=steps, loss=loss, perplexity=each, rate=rate,
            words_per_second=speed, seconds_left=self._seconds_left(now),
        )  # fmt: skip

    def _seconds_left(self, now: float) -> float:
        """Estimate from the words per second so far, measuring included, what all epochs will take."""
        words = self._order.words_from(self._state.epoch, self._config.training.epochs)
        return max(0, words - self._state.sums.words) * (now - self._began) / max(self._words_here, 1)

    def _go_back(self, why: str) -> None:
        """Return to the last good state with a lower rate, or end the run if that was done often enough."""
        state, recovery = self._state, self._config.recovery
        if state.recoveries >= recovery.most:
            state.finished = f"{why}, after {state.recoveries} recoveries"
            return
        state.recoveries += 1
        state.factor *= recovery.factor
        state.watch = Watch()
        self._world.wait()
        self._learner.load_state(self._checkpoints_for_all().tensors(_GOOD))
        self._record("restore", reason=why, factor=state.factor)
        self._note(f"{why}: back to the last good state, with the rate times {state.factor:g}")

    def _checkpoints_for_all(self) -> Checkpoints:
        """Return the checkpoints; processes that do not write them look again at what is there."""
        if not self._world.is_main:
            self._checkpoints.load(RunState.from_dict)
        return self._checkpoints

    def _end_epoch(self) -> None:
        state, select = self._state, self._config.training.select
        with self._learner.evaluated() as grammar:
            scores = self._measured(grammar)
            if state.best is None:  # parameters as they were drawn are no model
                selected = scores is not None and state.watch.count > 0
            else:
                selected = scores is not None and scores.value(select) > state.best.value(select)
            model = self._model_to_keep(grammar, selected)
        if scores is None and not state.finished:
            self._go_back("development sentences have no finite likelihood")
        if selected:
            state.best, state.best_epoch, state.waited = scores, state.epoch, 0
        else:
            state.waited += 1
        state.seconds = self._seconds_before + time.monotonic() - self._began
        if scores is not None:
            self._record(
                "epoch", train=self._train_scores(), development=scores.to_dict(), select=select,
                selected=selected, seconds=state.seconds,
            )  # fmt: skip
            self._say("epoch", development=scores.to_dict(), selected=selected)
        self._decide_end()
        if model is not None and scores is not None and self._config.checkpoint.epochs:
            # Before the state says that this epoch is over: a run that is killed in between makes it again.
            self._export(model, self._folder.model_of_epoch(state.epoch), state.epoch, scores)
        state.epoch, state.place, state.sums = state.epoch + 1, 0, EpochSums()
        if self._world.is_main:
            good = scores is not None and not state.watch.trouble(self._config.recovery)
            best = model if selected else None
            self._save(good=good, best=best)
            if best is not None:
                self._export_best(best)

    def _measured(self, grammar: Grammar) -> DevelopmentScores | None:
        """Return what the grammar is worth on the development set; None if its parameters are broken."""

        def compute() -> dict[str, Any] | None:
            try:
                return asdict(measure(grammar, self._data, self._config))
            except NumericalError:
                return None

        told = self._world.share(compute)
        return None if told is None else DevelopmentScores(**told)

    def _decide_end(self) -> None:
        state, training = self._state, self._config.training
        if state.finished:
            return
        if state.epoch >= training.epochs:
            state.finished = f"all {training.epochs} epochs are over"
        elif state.waited >= training.patience:
            state.finished = f"{state.waited} epochs without improvement"

    def _train_scores(self) -> dict[str, float | int]:
        sums = self._state.sums
        return {
            "perplexity": perplexity(sums.likelihood, sums.words) if sums.words else 0.0,
            "loss": (sums.likelihood + sums.divergence) / max(sums.sentences, 1),
            "words": sums.words,
            "sentences": sums.sentences,
            "skipped": sums.skipped,
            "redone": sums.redone,
        }

    # ---- keeping and telling --------------------------------------------------------------------

    def _is_due(self) -> bool:
        if not self._world.is_main:
            return False
        every, seconds = self._config.checkpoint.steps, self._config.checkpoint.seconds
        by_steps = bool(every) and self._state.step % every < self._config.training.report_every
        return by_steps or (bool(seconds) and time.monotonic() - self._saved >= seconds)

    def _save(self, *, good: bool = False, best: Mapping[str, Tensor] | None = None) -> None:
        assert self._metrics is not None
        self._state.metrics_size = self._metrics.flush()
        current = self._learner.state()
        tensors: dict[str, Mapping[str, Tensor]] = {_CURRENT: current}
        if good:
            tensors[_GOOD] = current
        if best is not None:
            tensors[_BEST] = best
        self._checkpoints.save(asdict(self._state), self._state.step, tensors)
        self._saved = time.monotonic()

    def _model_to_keep(self, grammar: Grammar, selected: bool) -> dict[str, Tensor] | None:
        """Return a copy of the parameters, if the model of this epoch is to be written by this process."""
        wanted = selected or self._config.checkpoint.epochs
        return _copied(grammar.state_dict()) if wanted and self._world.is_main else None

    def _export_best(self, tensors: Mapping[str, Tensor]) -> None:
        """Write the selected model for use."""
        assert self._state.best is not None
        self._export(tensors, self._folder.model, self._state.best_epoch, self._state.best)

    def _export(
        self, tensors: Mapping[str, Tensor], place: Path, epoch: int, scores: DevelopmentScores
    ) -> None:
        """Write the model of an epoch into a folder."""
        provenance = {
            "software": software(),
            "run": self._folder.run,
            "config": self._config.deciding(),
            "data": self._data.facts,
            "selected": {
                "by": self._config.training.select,
                "epoch": epoch,
                "development": scores.to_dict(),
            },
        }
        write_model(
            place,
            self._learner.grammar.config,
            tensors,
            self._data.vocabulary,
            self._data.normalisation,
            provenance,
        )

    def _record(self, event: str, **values: Any) -> None:
        if self._metrics is not None:
            place = {"epoch": self._state.epoch, "step": self._state.step}
            self._metrics.write({"event": event, **place, **values})

    def _say(self, kind: Any, **values: Any) -> None:
        if self._tell is not None:
            epochs = self._config.training.epochs
            self._tell(Progress(kind, self._folder.run, min(self._state.epoch, epochs), epochs, **values))

    def _note(self, message: str) -> None:
        self._say("note", message=message)


def _shape(count: int, words: Tensor) -> tuple[int, int]:
    """Return the mean length of the sentences of a batch, and how many they are."""
    return round(count / len(words)), len(words)


def _copied(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor.detach().clone() for name, tensor in tensors.items()}
