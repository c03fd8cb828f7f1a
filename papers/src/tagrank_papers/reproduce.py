"""Run what repeats a table, or show the figures that are kept.

tagrank finds this module by its entry point, and asks for `list_reproductions`, `reproduce` and `STATES`.
"""

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tagrank_papers.catalogue import EXPERIMENTS, STATES, TABLES, Experiment, Table, find_table
from tagrank_papers.figures import Answer, Figures, differences, join
from tagrank_papers.measuring import describe_machine, read_record, write_record
from tagrank_papers.origin import describe_origin, tell_age, tell_origin

__all__ = ["STATES", "Reproduction", "list_reproductions", "reproduce"]


@dataclass(frozen=True)
class Reproduction:
    """A table and what we find for it.

    Attributes
    ----------
    table : as it was published
    experiment : what repeats it, or None
    answer : our figures and what they say, or None
    machine : on which they were measured
    origin : when and where ours were measured, and whether code changed since, in sentences
    is_quick : whether they are of drawn data, and tell nothing but that everything runs
    """

    table: Table
    experiment: Experiment | None = None
    answer: Answer | None = None
    machine: dict[str, Any] | None = None
    origin: tuple[str, ...] = ()
    is_quick: bool = False

    def tables(self) -> list[tuple[str, Figures]]:
        """What to show, with a heading each: both in one table where they have cells in common."""
        published, ours = self.table.published, self.answer.figures if self.answer else None
        if published and ours and (both := join(published, ours)):
            return [("Published, and ours", both)]
        return [(title, figures) for title, figures in (("Published", published), ("Ours", ours)) if figures]

    def sentences(self) -> list[str]:
        """What the figures say, how far ours are from the published ones, and why."""
        sentences = [self.table.why]
        if self.answer is not None:
            if self.table.published is not None:
                sentences.insert(0, differences(self.table.published, self.answer.figures))
            sentences.insert(0, self.answer.verdict)
        return [sentence for sentence in sentences if sentence]

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and text for JSON."""
        ours = self.answer.figures if self.answer else None
        return {
            **self.table.to_dict(),
            "data": list(self.experiment.data) if self.experiment else [],
            "protocol": self.experiment.protocol if self.experiment else "",
            "ours": {"columns": ours.columns, "rows": ours.rows} if ours else None,
            "sentences": self.sentences(),
            "machine": self.machine,
            "origin": list(self.origin),
            "is_quick": self.is_quick,
        }


def list_reproductions() -> list[Table]:
    """All tables of the papers, and our own questions, whatever their state."""
    return list(TABLES)


def reproduce(
    name: str, *, kept: bool = False, quick: bool = False, output: str | Path | None = None, **parameters: Any
) -> Reproduction:
    """Measure again what a table of a paper says, and set our figures beside the published ones.

    Parameters
    ----------
    name : of a table, see `list_reproductions`
    kept : measure nothing, and take the figures that come with the package
    quick : a run of seconds on drawn data, which shows that it works
    output : folder for a JSON file with all that was measured; NAME.part.json is what a run has so far
    **parameters : keywords of ``run`` of the experiment
    """
    table = find_table(name)
    experiment = EXPERIMENTS.get(table.experiment)
    if experiment is None:
        return Reproduction(table)
    record = read_record(experiment.name) if kept else _run(experiment, quick, output, parameters)
    if record is None:
        return Reproduction(table, experiment)
    answer = experiment.answer(name, record["results"])
    origin = tuple(filter(None, (tell_origin(record), tell_age(record, experiment.name) if kept else "")))
    return Reproduction(table, experiment, answer, record["machine"], origin, is_quick=quick and not kept)


def _run(
    experiment: Experiment, quick: bool, output: str | Path | None, parameters: dict[str, Any]
) -> dict[str, Any]:
    if not quick:
        check_packages(experiment)
        check_data(experiment)
    module, machine, origin = experiment.load(), describe_machine(), describe_origin(experiment.name)
    for results in module.run(**(module.QUICK if quick else {}) | parameters):
        if output is not None:
            write_record(experiment.name, results, machine, Path(output), origin=origin, is_complete=False)
    if output is not None:
        write_record(experiment.name, results, machine, Path(output), origin=origin)
    return {"results": results, "machine": machine, "origin": origin}


def check_packages(experiment: Experiment) -> None:
    """Raise if a package is missing beside which ours is measured."""
    absent = [package for package in experiment.packages if find_spec(package) is None]
    if absent:
        raise ImportError(f"{', '.join(absent)} is not installed: pip install 'tagrank[bench]'")


def check_data(experiment: Experiment) -> None:
    """Raise if data is missing, with what to put where."""
    from tagrank.commands.lists import datasets

    by_name = {dataset.name: dataset for dataset in datasets()}
    absent = [by_name[name] for name in experiment.data if not by_name[name].is_here]
    if absent:
        advice = "; ".join(f"{dataset.name} ({dataset.source}): {dataset.advice}" for dataset in absent)
        raise FileNotFoundError(
            f"data is missing, or TAGRANK_DATA does not name the folder that has it: {advice}"
        )
