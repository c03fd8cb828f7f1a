"""Run benchmarks, from the root of the repository.

    python -m benchmarks                                lists them
    python -m benchmarks gram_training [options]        runs one; --help tells its options
    python -m benchmarks all [--quick]                  runs all, or several that are named

Only a run without options replaces the figures in benchmarks/results/*.json; any other, and any --quick one,
writes to benchmarks/results/local/.
"""

import argparse
import inspect
import subprocess
import sys
from itertools import takewhile

from benchmarks import catalogue, output
from tagrank_papers.measuring import describe_machine


def main(arguments):
    sys.stdout.reconfigure(line_buffering=True)
    names = list(takewhile(lambda word: not word.startswith("-"), arguments))
    options = arguments[len(names) :]
    if not names:
        print(__doc__)
        print(catalogue.describe_all())
    elif len(names) == 1 and names != ["all"]:
        run(names[0], options)
    else:
        run_all(catalogue.names() if names == ["all"] else names, options)


def run(name, arguments):
    """Run one benchmark here; only the figures of a run without options take the place of the kept ones."""
    module = catalogue.find(name)
    options, is_usual = read_options(name, module, arguments)
    machine = describe_machine()
    for results in module.run(**options):  # a long run that ends early leaves what it had
        output.write_results(name, results, machine, output.PLACES.local)
    if is_usual:
        output.write_results(name, results, machine, output.PLACES.kept)


def run_all(names, options):
    """Each in a process of its own, so that none inherits memory or warnings; says which failed."""
    for name in names:
        catalogue.find(name)
    failed = []
    for name in names:
        print(f"== {name}")
        if subprocess.run([sys.executable, "-m", "benchmarks", name, *options]).returncode:
            failed.append(name)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


def read_options(name, module, arguments):
    """The options by name, and whether they are those of the figures that are kept."""
    parser = argparse.ArgumentParser(
        prog=f"python -m benchmarks {name}",
        description=module.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="a run of seconds, which shows that it works")
    usual = {key: value.default for key, value in inspect.signature(module.run).parameters.items()}
    for option, default in usual.items():
        _add_option(parser, option, default, module.QUICK.get(option, default))
    if parser.parse_known_args(arguments)[0].quick:
        parser.set_defaults(**module.QUICK)
    options = vars(parser.parse_args(arguments))
    is_quick = options.pop("quick")
    options = {key: tuple(value) if isinstance(value, list) else value for key, value in options.items()}
    return options, options == usual and not is_quick


def _add_option(parser, name, default, quick):
    flag = f"--{name.replace('_', '-')}"
    if isinstance(default, bool):
        parser.add_argument(flag, default=default, action=argparse.BooleanOptionalAction)
    elif isinstance(default, tuple):
        kind = type(default[0])
        choices = dict.fromkeys((*default, *quick)) if kind is str else None
        parser.add_argument(flag, default=default, nargs="+", type=kind, choices=choices)
    else:
        parser.add_argument(flag, default=default, type=str if default is None else type(default))


if __name__ == "__main__":
    main(sys.argv[1:])
