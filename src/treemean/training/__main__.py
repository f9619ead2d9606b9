"""Training by `python -m treemean.training`, for machines with nothing but PyTorch and NumPy."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from treemean import program
from treemean.printing import harmless
from treemean.training.stopping import Stopped

_EXAMPLES = """examples:
  python -m treemean.training config.toml --folder out --run 1
  python -m treemean.training config.toml --folder out --runs 10 --together --seconds 480
  python -m treemean.training tn-lcfrs-small --folder new --runs 5 \\
      --override data.train=train.txt --override training.select=likelihood
  torchrun --nproc-per-node 2 -m treemean.training config.toml --folder out --only 1
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    return program.run(lambda: _train(given), program.complain)


def _train(arguments: Sequence[str]) -> int:
    try:
        _train_or_stop(_options(arguments))
    except Stopped as stopped:
        print(stopped)
        return program.STOPPED
    return 0


def _train_or_stop(options: argparse.Namespace) -> None:
    with program.starting():
        import treemean.parsing  # noqa: F401 - tells what to install if PyTorch is missing
        from treemean.training.config import load_config
        from treemean.training.distributed import world
        from treemean.training.progress import Progress, described_scores
        from treemean.training.runs import train_runs
        from treemean.training.single import device_of, train
        from treemean.training.stopping import Deadline, telling_how_to_go_on

    config = load_config(options.config, options.override)
    stop = None if options.seconds is None else Deadline(options.seconds)

    def tell(event: Progress) -> None:
        print(event.to_json() if options.events else harmless(event.describe()), flush=True)

    def say(message: str) -> None:
        print(harmless(message), file=sys.stderr)

    with telling_how_to_go_on(say), world(device_of(config)) as here:
        if options.run is not None:
            results = [train(config, options.folder, run=options.run, progress=tell, world=here, stop=stop)]
        else:
            results = train_runs(
                config,
                options.folder,
                runs=options.runs,
                parallel=options.parallel,
                progress=tell,
                world=here,
                together=options.together or None,
                stop=stop,
            )
    if here.is_main and not options.events:
        for result in results:
            print(
                f"{result.model}: epoch {result.epoch}, selected by {result.select}; "
                f"{described_scores(result.metrics)}"
            )


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m treemean.training",
        usage="%(prog)s CONFIG --folder OUT [--run K | --runs K] [--parallel P] [--override a.b=c] …",
        description="Train parsers on raw text. What was interrupted goes on where it was.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("config", metavar="CONFIG", help="a TOML file, or the name of a preset")
    parser.add_argument("--folder", required=True, metavar="OUT", help="where runs are kept")
    which = parser.add_mutually_exclusive_group()
    # torchrun takes --run for an option of its own that it cannot tell from others
    which.add_argument("--run", "--only", type=int, metavar="K", help="train this run only")
    which.add_argument("--runs", type=int, metavar="K", help="train runs 1 to K (default: run.runs)")
    parser.add_argument("--parallel", type=int, metavar="P", help="how many runs at a time, in processes")
    parser.add_argument(
        "--together", action="store_true", help="take the steps of all runs together (on a GPU the default)"
    )
    parser.add_argument(
        "--seconds",
        type=float,
        metavar="S",
        help=f"stop after this time; exit code {program.STOPPED} says that the same command will go on",
    )
    parser.add_argument("--override", action="append", default=[], metavar="a.b=c", help="change a setting")
    parser.add_argument("--events", action="store_true", help="tell progress as JSON, for other programs")
    options = parser.parse_args(arguments)
    if options.run is not None and (options.parallel is not None or options.together):
        parser.error("--parallel and --together are for several runs, and --run for one")
    return options


if __name__ == "__main__":
    program.begin()
    sys.exit(main())
