"""How the audit of a collection stands, and which pictures to look at next."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from tagrank.commands.options import CACHE, DATA, OUTPUT, PICTURE_JOBS
from tagrank.commands.tables import Screen, counted, quality_lines, table_of, text_of
from tagrank.data.reading import Reading
from tagrank.errors import ArgumentError
from tagrank.options import ROWS, Option
from tagrank.progress import Progress

if TYPE_CHECKING:
    from tagrank.annotation import Annotator
    from tagrank.annotation.describing import Cache
    from tagrank.data import Collection
    from tagrank.estimators.calibration.audit import Audit
    from tagrank.reports.quality import QualityNote

SHOWN = 5  # tags at each end of the table
FEWEST_TRUE = 3  # pictures of the audit that have a tag which is shown


@dataclass(frozen=True)
class AuditedTag:
    """A tag in audited pictures.

    Attributes
    ----------
    tag : its name
    true, listed : how many audited pictures have it, and how many of these listed it
    completeness : the share that is listed of it, drawn towards that of all tags
    """

    tag: str
    true: int
    listed: int
    completeness: float


@dataclass(frozen=True)
class AuditStatus:
    """How an audit stands.

    Attributes
    ----------
    name : of the data
    kind : what is looked at, "picture" or "row"
    audit : what was found so far; None where nothing was looked at
    tags : those that some audited pictures have, the most complete first
    quality : what the tags are worth that a model would write, by the audit; None without a model or an audit
    next : names of the pictures to look at next, each with its listed tags
    n_left : how many could still be looked at
    """

    name: str
    kind: str
    audit: Audit | None
    tags: Sequence[AuditedTag]
    quality: QualityNote | None
    next: Sequence[tuple[str, Sequence[str]]]
    n_left: int

    @property
    def sentences(self) -> list[str]:
        """What the audit tells, what completeness depends on, and how much more to look at."""
        from tagrank.reports.audits import dependence_words, told_words, wanted_words

        depends = "" if self.audit is None else dependence_words(self.audit, self.kind)
        wanted = wanted_words(self.audit, self.n_left)
        return [one for one in (told_words(self.audit, self.kind), depends, wanted) if one]

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers for JSON."""
        audit = self.audit
        return {
            "data": self.name,
            "n_audited": 0 if audit is None else audit.n_samples,
            "n_left": self.n_left,
            "sentences": self.sentences,
            "completeness": None if audit is None else audit.completeness._asdict(),
            "n_true": 0 if audit is None else audit.n_true,
            "n_missing": 0 if audit is None else audit.n_missing,
            "n_wrong": 0 if audit is None else audit.n_wrong,
            "tags": [vars(one) for one in self.tags],
            "quality": None if self.quality is None else self.quality.to_dict(),
            "next": [{"name": name, "tags": list(tags)} for name, tags in self.next],
        }


def audit(
    data: Annotated[Collection | str | os.PathLike, DATA],
    output: Annotated[str | os.PathLike | None, OUTPUT] = None,
    *,
    n: Annotated[
        int | None, Option(names=("--number", "-n"), low=1, usual="enough to narrow the interval")
    ] = None,
    model: Annotated[Annotator | str | os.PathLike | None, Option(kind=str, metavar="MODEL")] = None,
    part: Annotated[str | None, Option(ROWS, usual="all")] = None,
    reading: Reading = Reading(),
    cache: Annotated[Cache, CACHE] = True,
    n_jobs: Annotated[int | None, PICTURE_JOBS] = None,
    progress: Progress | None = None,
) -> AuditStatus:
    """Estimate how complete the tags are, from random pictures that somebody tagged completely.

    Pictures are drawn at random, always in the same order. Complete their tags in the queue 'Audit' of the
    desk, or in a list: complete the tags in each line, delete the lines that nobody looked at, and pass the
    list with --audited.

    Parameters
    ----------
    output : write the next pictures to audit, with their tags, as a .csv file
    n : number of pictures to list
    model : also measure the tags that this model would write; a folder that 'tagrank train' wrote. In Python,
        also an `Annotator`
    part : part of the data to audit
    n_jobs : number of processes that describe pictures
    data, reading, cache : as in `train`
    progress : called with the number of steps done, the number of steps, and the name of the work

    Returns
    -------
    AuditStatus

    Command line
    ------------
    tagrank audit photos/
    tagrank audit photos/ -n 50 -o audit.csv
    tagrank audit photos/ --audited audit.csv --model model
    tagrank train photos/ -o model --audited audit.csv
    """
    from tagrank.annotation.describing import kind_of
    from tagrank.commands.audit.steps import audit_rows, draw_next, measure_model, tag_lines, write_audit_list
    from tagrank.commands.destinations import check_apart, check_file
    from tagrank.commands.given_data import check_has_tags, choose_part, keep_frequent, open_collection
    from tagrank.data import clean_tags
    from tagrank.data.readers.audit_list import with_row_names
    from tagrank.reports.audits import FIRST, n_wanted

    if output is not None:
        _check_output(output)
        check_file(output)
        check_apart(data, reading.audited, output=output)
    tagged = check_has_tags(open_collection(data, reading), data)
    rows = choose_part(with_row_names(tagged), part, usual="all")
    rows = keep_frequent(clean_tags(rows, **reading.spelling()), reading.min_count)
    found = audit_rows(rows)
    listed, left = draw_next(rows, n or n_wanted(found) or FIRST)
    quality = None
    if model is not None:
        quality = measure_model(model, rows, cache=cache, n_jobs=n_jobs, progress=progress)
    if output is not None:
        write_audit_list(output, listed, kind_of(rows.views))
    return AuditStatus(rows.name, kind_of(rows.views), found, tag_lines(rows, found), quality, listed, left)


def _check_output(output: str | os.PathLike) -> None:
    if os.path.splitext(output)[1] != ".csv":
        raise ArgumentError(f"{os.fspath(output)}: the list of an audit is a .csv file")
    if os.path.exists(output):
        raise ArgumentError(
            f"{os.fspath(output)} exists already, and somebody may have completed it; name another file"
        )


def show_audit(status: AuditStatus, *, output: str | os.PathLike | None = None) -> Screen:
    """What the audit tells, tags at both ends, and where the list is."""
    first, *others = status.sentences
    tables: list[Any] = [text_of(first, "bold"), *map(text_of, others)]
    if status.tags:
        tables += ["", _tag_table(status.tags)]
    if status.quality is not None:
        tables += ["", *quality_lines(status.quality)]
    said = []
    if output is not None:
        said.append(
            f"{counted(len(status.next), status.kind)} to audit written to {output}; complete their tags, "
            "delete the lines that nobody looked at, and pass the list with --audited"
        )
    elif status.n_left:
        said.append(
            f"-o audit.csv lists the next {status.kind}s to audit; so does the queue 'Audit' of the desk"
        )
    return Screen(tables, said)


def _tag_table(tags: Sequence[AuditedTag]) -> Any:
    """The most and the least complete tags."""
    shown = [*tags] if len(tags) <= 2 * SHOWN else [*tags[:SHOWN], *tags[-SHOWN:]]
    table = table_of("tag", "true", "listed", "complete (about)", numbers=True)
    for one in shown:
        table.add_row(*map(text_of, (one.tag, f"{one.true:,}", f"{one.listed:,}", f"{one.completeness:.0%}")))
    return table
