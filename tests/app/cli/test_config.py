"""`-c config.yml`: keys are option names, flags override them, mistakes are explained."""

import json

import pytest

from tagrank.annotation import Annotator


@pytest.fixture
def trained(tagrank, table, tmp_path):
    """Train with a config file; gives the result of the command."""

    def run(content, *flags):
        (tmp_path / "config.yml").write_text(content)
        return tagrank("train", table, "-o", tmp_path / "m", "-c", tmp_path / "config.yml", *flags)

    return run


def test_values_are_used(trained):
    result = trained(
        "method: one-vs-all\ntest-size: 0.5\nlower_case: true\njson: true\nsynonym: [sea=water]\n"
    )
    document = json.loads(result.stdout)
    assert document["method"] == "one-vs-all"
    assert document["data"]["rows"] == 30
    assert document["data"]["tags"] == 3


def test_parameters_of_the_method(trained, tmp_path):
    content = "method: joint-svm\nset:\n  output-kernel: poly2\n  center: false\n  n_neighbors: 3\n"
    assert trained(content).exit_code == 0
    estimator = Annotator.load(tmp_path / "m").estimator_.estimator_
    assert (estimator.output_kernel, estimator.center, estimator.n_neighbors) == ("poly2", False, 3)
    assert trained("method: joint-svm\nset: [output_kernel=poly3]\n").exit_code == 0
    assert Annotator.load(tmp_path / "m").estimator_.estimator_.output_kernel == "poly3"


def test_synonyms_as_a_mapping(trained, tmp_path):
    assert trained("synonym: {sea: water, boat: water}\n").exit_code == 0
    assert Annotator.load(tmp_path / "m").tags == ["Sky", "water"]


def test_a_plain_value_is_a_list_of_one(trained, tmp_path):
    assert trained("method: pairwise-ranker\nset: pairs=lowest\nsynonym: sea=water\n").exit_code == 0
    annotator = Annotator.load(tmp_path / "m")
    assert annotator.estimator_.estimator_.pairs == "lowest"
    assert annotator.tags == ["Sky", "water", "boat"]
    wrong = trained("features: foo\n")
    assert wrong.exit_code == 2
    assert "no features 'foo'" in wrong.stderr


@pytest.mark.parametrize("content", ["", "# nothing yet\n", "---\n", "synonym:\n"])
def test_an_empty_file_says_nothing(trained, content):
    result = trained(content, "--method", "label-frequency")
    assert result.exit_code == 0, result.stderr


def test_flags_override(trained):
    content = "method: one-vs-all\ntest-size: 0.5\njson: true\n"
    document = json.loads(trained(content, "--method", "label-frequency", "--test-size", 0.25).stdout)
    assert document["method"] == "label-frequency"
    assert document["data"]["rows"] == 45


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("kernal: rbf\n", "did you mean 'kernel'"),
        ("zzz: 1\n", "--help lists them"),
        ("config: other.yml\n", "no option"),
        ("C: much\n", "'--C'"),
        ("method: svm\n", "svm"),
        ("C: [1, 2]\n", "C must be a plain value"),
        ("C: {a: 1}\n", "C must be a plain value"),
        ("set: {prior: [1]}\n", "without nesting"),
        ("set: {prior: identity}\n", "no parameter 'prior'"),
        ("settings: {prior: identity}\n", "no option"),
        ("method: joint-svm\nset: {center: 3}\n", "center must be true or false, got '3'"),
        ("method: joint-svm\nset: {center:}\n", "center must be true or false, got 'None'"),
        ("- C\n", "expected lines such as"),
        ("C: 10\nC: 10\n", "line 2: C appears twice; keep one of them"),
        ("set: {center: true, center: false}\n", "center appears twice"),
        ("lower-case: true\nlower_case: false\n", "lower_case appears twice, in different spellings"),
        ("features: {fast: 1}\n", "features must be a plain value"),
        ("test-size: 2\n", "0.25 for a quarter"),
        ("C: 'open\n", "not valid YAML"),
        ("a: &x [1]\nb: *x\n", "aliases"),
        ("C: !!python/object/apply:os.system ['true']\n", "not valid YAML"),
        ("# long\n" * 10_000, "bytes"),
        ("C: " + "[" * 30_000, "without nesting"),
    ],
)
def test_mistakes_are_usage_errors(trained, tmp_path, content, words):
    result = trained(content)
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.replace("│", " ").split())
    assert "Traceback" not in result.output
    assert not (tmp_path / "m").exists()


def test_missing_file(tagrank, table, tmp_path):
    result = tagrank("train", table, "-o", tmp_path / "m", "-c", tmp_path / "no.yml")
    assert result.exit_code == 2
    assert "No such file" in result.stderr


def test_every_command_with_options_reads_it(tagrank, model, table, tmp_path):
    (tmp_path / "config.yml").write_text("top: 1\njson: true\n")
    result = tagrank("annotate", model, table, "-c", tmp_path / "config.yml")
    rows = json.loads(result.stdout)["pictures"]
    # beyond the first there are only predicted ones
    assert all(entry["predicted"] for row in rows for entry in row["tags"][1:])
    assert {len(row["tags"]) for row in rows} > {1}
