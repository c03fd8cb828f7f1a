"""`audit`: how an audit stands, which rows come next, and what the other commands make of it."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from tagrank import evaluate, missing, train
from tagrank.app.cli.main import app
from tagrank.commands.audit.audit import audit
from tagrank.data import Collection, Reading
from tagrank.data.readers.audit_list import audit_order

N_ROWS, TAGS = 400, [f"tag {j}" for j in range(8)]


@pytest.fixture(scope="module")
def truth():
    """Features, and true labels that follow from them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 6))
    true = X @ rng.normal(size=(6, 8)) + 0.5 * rng.normal(size=(N_ROWS, 8)) > np.linspace(3, 0.5, 8)
    true[~true.any(axis=1), -1] = True
    return X, true


@pytest.fixture(scope="module")
def data(truth):
    """The rows, of which frequent labels are listed less often; each lists one."""
    X, true = truth
    rng = np.random.default_rng(1)
    listed = true & (rng.random(true.shape) < np.linspace(0.9, 0.3, 8))
    bare = ~listed.any(axis=1)
    listed[bare, true[bare].argmax(axis=1)] = True
    return Collection({"features": X}, listed.astype(float), TAGS, name="rows")


@pytest.fixture(scope="module")
def complete(data, truth, tmp_path_factory):
    """The list of the next sixty rows, with all their tags."""
    path = tmp_path_factory.mktemp("audit") / "audit.csv"
    status = audit(data, path, n=60)
    with open(path, newline="") as stream:
        names = [row["name"] for row in csv.DictReader(stream)]
    assert names == [name for name, _ in status.next]
    rows = [int(name.split()[1]) for name in names]
    assert rows == audit_order([f"row {i}" for i in range(N_ROWS)])[:60].tolist()
    lines = [
        f"{name},{'|'.join(np.array(TAGS)[truth[1][row]])}" for name, row in zip(names, rows, strict=True)
    ]
    path.write_text("\n".join(["name,tags", *lines, ""]))
    return path


def share(data, truth):
    return float(np.sum(data.labels > 0) / np.sum(truth[1]))


def test_before_anything_was_looked_at(data):
    status = audit(data)
    assert status.audit is None
    assert status.sentences == [
        "No row is audited yet.",
        "Audit 30 to know how complete the tags are, to about ± 10 points.",
    ]
    assert (len(status.next), status.n_left, status.tags) == (30, N_ROWS, [])
    row = int(status.next[0][0].split()[1])
    assert status.next[0][1] == [TAGS[j] for j in np.flatnonzero(data.labels[row] > 0)]


def test_a_list_that_was_completed_tells_how_complete_tags_are(data, truth, complete):
    status = audit(data, reading=Reading(audited=complete))
    told = status.audit.completeness
    assert told.low <= share(data, truth) <= told.high
    assert status.n_left == N_ROWS - 60
    assert status.sentences[0].startswith("60 rows audited: about ")
    # rows with one tag keep it, so that those with many lack more
    assert status.sentences[1] == "Rows with many tags miss more tags."
    assert status.tags[0].completeness > status.tags[-1].completeness + 0.2
    assert not {name for name, _ in status.next} & set(np.genfromtxt(complete, str, delimiter=",")[1:, 0])
    assert json.loads(json.dumps(status.to_dict()))["n_audited"] == 60


def test_a_model_learns_from_an_audit_and_says_what_it_is_worth(data, truth, complete):
    options = {"method": "one-vs-all-logistic", "C": 1.0, "seed": 0}
    model = train(data, reading=Reading(audited=complete), **options)
    told = model.completeness
    assert told.n_audited == 60
    assert told.low <= share(data, truth) <= told.high
    quality = audit(data, reading=Reading(audited=complete), model=model.annotator).quality
    assert quality.kind == "audited"
    assert "on 60 rows with audited tags, with models that were not trained on them" in quality.origin
    written = model.annotator.predict(data) > 0
    assert quality.right_interval.low <= truth[1][written].mean() <= quality.right_interval.high
    # a model without an audit is measured on the rows that were looked at
    blind = train(data, **options).annotator
    measured = audit(data, reading=Reading(audited=complete), model=blind).quality
    assert measured.kind == "audited"
    assert "but only" not in measured.origin  # nothing else was measured on
    same = evaluate(blind, data, part="all", reading=Reading(audited=complete)).quality
    assert (same.right, same.found) == (measured.right, measured.found)
    assert "but only on the 60 whose tags were audited" in same.origin


def test_missing_learns_from_an_audit_and_proposes_nothing_there(data, truth, complete):
    options = {"method": "one-vs-all-logistic", "C": 1.0, "top": None}
    found = missing(data, reading=Reading(audited=complete), **options)
    assert found.completeness.n_audited == 60
    audited = set(np.genfromtxt(complete, str, delimiter=",")[1:, 0])
    assert not {one.name for one in found.suggestions} & audited
    # what is claimed of the others is what is right
    claimed = np.mean([one.probability for one in found.suggestions])
    pairs = [(int(one.name.split()[1]), TAGS.index(one.tag)) for one in found.suggestions]
    listed = data.labels > 0
    by_tag = listed.sum(axis=0) / truth[1].sum(axis=0)
    unlisted = np.mean([truth[1][pair] for pair in pairs])
    # a probability does not weigh that nobody listed the tag
    weighed = np.mean(
        [
            one.probability * (1 - by_tag[j]) / (1 - by_tag[j] * one.probability)
            for one, (_, j) in zip(found.suggestions, pairs, strict=True)
        ]
    )
    assert weighed < claimed
    assert abs(weighed - unlisted) < 0.05


def test_an_audit_in_the_terminal(data, complete, tmp_path):
    table = tmp_path / "rows.csv"
    from tagrank.data import write_collection

    write_collection(data, table)
    run = lambda *words: CliRunner().invoke(app, ["audit", str(table), *map(str, words)])  # noqa: E731
    shown = run("--audited", complete)
    assert shown.exit_code == 0, shown.output
    assert "60 rows audited: about" in shown.stdout
    assert "complete (about)" in shown.stdout
    listed = run("-n", 7, "-o", tmp_path / "next.csv")
    assert "7 rows to audit written to" in listed.stderr
    assert len((tmp_path / "next.csv").read_text().splitlines()) == 8
    again = run("-n", 7, "-o", tmp_path / "next.csv")
    assert again.exit_code == 2
    assert "exists already" in again.stderr
    assert "list of an audit is a .csv file" in run("-o", tmp_path / "next.jsonl").stderr
    few = run("--model", tmp_path / "none")
    assert "model not found" in few.stderr


def test_a_model_is_not_measured_on_a_handful(data):
    model = train(data, method="label-frequency").annotator
    with pytest.raises(ValueError, match="at least 10 audited pictures or rows, got 0"):
        audit(data, model=model)
