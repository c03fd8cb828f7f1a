"""`tagrank train`: what it writes, what it says, what stops it."""

import json
import os
import shutil
import signal

import numpy as np
import pytest

from tagrank.annotation import Annotator
from tagrank.app.cli.progress import WorkProgress, share_done
from tagrank.commands.train import train
from tagrank.data import Reading, read_collection
from tagrank.estimators.methods import METHODS


def test_model_folder_holds_a_model_that_learned(model, table):
    annotator = Annotator.load(model)
    assert annotator.tags == ["sky", "sea", "boat"]
    agreement = annotator.predict(read_collection(table)) == read_collection(table).Y
    assert agreement.mean() > 0.85


def test_result_for_people_and_for_programs(tagrank, table, tmp_path):
    people = tagrank("train", table, "-o", tmp_path / "a", "--test-size", 0.25, "--max-iter", 200)
    assert people.exit_code == 0
    assert "duality gap" in people.stdout
    assert "held out (15 rows)" in people.stdout
    assert "model written to" in people.stderr
    programs = tagrank("train", table, "-o", tmp_path / "b", "--test-size", 0.25, "--json")
    document = json.loads(programs.stdout)
    assert document["data"]["rows"] == 45
    assert document["certificate"]["gap"] <= 1e-3
    assert document["held_out"]["n_samples"] == 15


def test_summary_counts_and_says_C(tagrank, tmp_path):
    (tmp_path / "rows.csv").write_text("a,tag:sky\n" + "".join(f"{i},{i % 2}\n" for i in range(8)))
    options = ("train", tmp_path / "rows.csv", "-o", tmp_path / "m")
    lines = tagrank(*options, "--C", 7).stdout.splitlines()
    assert lines[1].split()[1:5] == ["8", "rows,", "1", "tag,"]
    assert ["C", "7"] in [line.split() for line in lines]
    lines = tagrank(*options, "--method", "label-frequency").stdout.splitlines()
    assert "C" not in [line.split()[0] for line in lines]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_every_method_trains_ranks_and_is_measured(tagrank, table, tmp_path, method):
    result = tagrank("train", table, "-o", tmp_path / "m", "--method", method.name, "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["method"] == method.name
    pictures = json.loads(tagrank("annotate", tmp_path / "m", table, "--json").stdout)["pictures"]
    assert len(pictures) == 60
    assert all({entry["tag"] for entry in picture["tags"]} == {"Sky", "sea", "boat"} for picture in pictures)
    metrics = json.loads(tagrank("evaluate", tmp_path / "m", table, "--json").stdout)["metrics"]
    (auc,) = (row["value"] for row in metrics["rows"] if row["name"] == "Image-AUC")
    assert 0.5 < auc <= 1


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("prior-margin", {"prior": "identity"}),
        ("joint-svm", {"output_kernel": "odds-ratio", "decoding": "transfer", "n_neighbors": 4}),
        ("online-joint-svm", {"margin": 0.25, "average": False, "center": False}),
        ("online-ranker", {"pairs": "worst", "step": "constant", "average": False}),
        ("pairwise-ranker", {"pairs": "lowest"}),
        ("incomplete-label-ranker", {"solver": "paper", "eta": 2.5}),
    ],
)
def test_parameters_of_one_method(tagrank, table, tmp_path, method, settings):
    options = [f"--set={name}={value}" for name, value in settings.items()]
    result = tagrank("train", table, "-o", tmp_path / "m", "--method", method, *options)
    assert result.exit_code == 0, result.stderr
    found = Annotator.load(tmp_path / "m").estimator_.estimator_.get_params()
    assert settings.items() <= found.items()


@pytest.mark.parametrize(
    ("flags", "expected"), [((), True), (("--no-fit-intercept",), False), (("--fit-intercept",), True)]
)
def test_intercept_is_as_the_method_has_it_unless_said(tagrank, table, tmp_path, flags, expected):
    options = ("--method", "one-vs-all-logistic", "--C", 1, *flags)
    result = tagrank("train", table, "-o", tmp_path / "m", *options)
    assert result.exit_code == 0, result.stderr
    assert Annotator.load(tmp_path / "m").estimator_.estimator_.fit_intercept == expected


def test_a_matrix_is_read_by_the_names_of_its_tags(tagrank, table, tmp_path):
    prior = tmp_path / "prior.csv"
    prior.write_text(",boat,sun,sea,sky\nsea,0.5,0,1,0.25\nboat,1,0,0.5,0\nsky,0,0,0.25,1\nsun,0,1,0,0\n")
    options = ("--method", "prior-margin", "--lower-case", "--set", f"prior={prior}")
    result = tagrank("train", table, "-o", tmp_path / "m", *options)
    assert result.exit_code == 0, result.stderr
    trained = Annotator.load(tmp_path / "m")
    assert trained.tags == ["sky", "sea", "boat"]
    expected = [[1, 0.25, 0], [0.25, 1, 0.5], [0, 0.5, 1]]
    np.testing.assert_array_equal(trained.estimator_.estimator_.prior_, expected)
    np.save(tmp_path / "prior.npy", np.array(expected))
    by_place = train(
        table, method="prior-margin", reading=Reading(lower_case=True), prior=tmp_path / "prior.npy"
    )
    np.testing.assert_array_equal(
        by_place.annotator.scores(read_collection(table)), trained.scores(read_collection(table))
    )


def test_seed_decides(tagrank, table, tmp_path):
    scores = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        tagrank("train", table, "-o", tmp_path / name, "--seed", seed, "--max-iter", 2, "--tol", 1e-5)
        scores.append(Annotator.load(tmp_path / name).scores(read_collection(table)))
    assert np.array_equal(scores[0], scores[1])
    assert not np.array_equal(scores[0], scores[2])


def test_tag_hygiene(tagrank, table, tmp_path):
    options = ("--lower-case", "--synonym", "sea=water", "--synonym", "boat=water", "--min-count", 5)
    assert tagrank("train", table, "-o", tmp_path / "m", *options).exit_code == 0
    assert Annotator.load(tmp_path / "m").tags == ["sky", "water"]


@pytest.mark.parametrize("option", ["--hierarchy", "--synonym"])
def test_a_table_of_tags(tagrank, table, tmp_path, option):
    (tmp_path / "tags.csv").write_text("tag,parent,synonyms\nsea,water,ocean\nboat,vehicle,\n")
    options = ("--lower-case", "--synonym", "sky=heaven", option, tmp_path / "tags.csv")
    assert tagrank("train", table, "-o", tmp_path / "m", *options).exit_code == 0
    model = Annotator.load(tmp_path / "m")
    assert {"heaven", "sea", "water", "boat", "vehicle"} <= set(model.tags)
    found = model.probabilities(read_collection(table))
    sea, water = (found[:, model.tags.index(tag)] for tag in ("sea", "water"))
    assert np.all(sea <= water)


def test_unmet_tolerance_is_a_warning_in_one_line(tagrank, table, tmp_path):
    result = tagrank("train", table, "-o", tmp_path / "m", "--max-iter", 1, "--tol", 1e-4, "--C", 100)
    assert result.exit_code == 0
    warning = result.stderr.splitlines()[0]
    assert warning.startswith("warning: the relative duality gap is")
    assert "raise --max-iter" in warning


def test_interrupted_training_is_kept(tagrank, table, tmp_path, monkeypatch):
    def wait(progress, point):
        monkeypatch.setattr(WorkProgress, "gap", press_control_c)

    def press_control_c(progress, point):
        signal.raise_signal(signal.SIGINT)
        monkeypatch.setattr(WorkProgress, "gap", lambda progress, point: None)

    monkeypatch.setattr(WorkProgress, "gap", wait)
    before = signal.getsignal(signal.SIGINT)
    result = tagrank("train", table, "-o", tmp_path / "m", "--tol", 1e-6, "--C", 1000)
    assert result.exit_code == 130
    assert "stopping and keeping the result" in result.stderr
    assert "training was asked to stop" in result.stderr
    assert 1e-6 < Annotator.load(tmp_path / "m").metadata["duality_gap"] < 1
    assert signal.getsignal(signal.SIGINT) == before


def test_control_c_twice_gives_up(tagrank, table, tmp_path, monkeypatch):
    def press_twice(progress, point):
        monkeypatch.setattr(WorkProgress, "gap", lambda progress, point: None)
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    def wait(progress, point):
        monkeypatch.setattr(WorkProgress, "gap", press_twice)

    monkeypatch.setattr(WorkProgress, "gap", wait)
    result = tagrank("train", table, "-o", tmp_path / "m", "--tol", 1e-6, "--C", 1000)
    assert result.exit_code == 130
    assert list(tmp_path.iterdir()) == []


def test_interrupt_outside_of_training_writes_nothing(tagrank, table, tmp_path, monkeypatch):
    def press_control_c(*_, **__):
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("tagrank.commands.steps.training.split_collection", press_control_c)
    result = tagrank("train", table, "-o", tmp_path / "m", "--test-size", 0.5)
    assert result.exit_code == 130
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("nowhere.csv",), 1, "nowhere.csv: No such file"),
        (("scen",), 1, "did you mean 'scene'"),
        (("scene",), 1, "TAGRANK_DATA"),
        (("TABLE", "--part", "test"), 1, "has no parts"),
        (("TABLE", "--method", "label-frequency", "--C", "2"), 2, "no parameter C"),
        (("TABLE", "--method", "online-joint-svm", "--C", "3"), 2, "no parameter C"),
        (("TABLE", "--method", "prior-margin", "--set", "prior=nowhere.csv"), 1, "nowhere.csv: No such file"),
        (("TABLE", "--method", "joint-svm", "--set", "n_neighbors=0"), 2, "at least 1, got '0'"),
        (("TABLE", "--method", "online-joint-svm", "--set", "margin=1"), 2, "to below 1, got '1'"),
        (("TABLE", "--method", "incomplete-label-ranker", "--set", "eta=nan"), 2, "got 'nan'"),
        (("TABLE", "--method", "joint-svm", "--set", "n_neighbors=few"), 2, "must be a whole number"),
        (("TABLE", "--method", "joint-svm", "--set", "center=2"), 2, "center must be true or false"),
        (("TABLE", "--method", "joint-svm", "--set", "centre=no"), 2, "did you mean 'center'"),
        (("TABLE", "--method", "prior-margin", "--set", "prior=corr"), 2, "correlation, identity"),
        (("TABLE", "--set", "prior=identity"), 2, "no parameter 'prior'"),
        (("TABLE", "--set", "prior"), 2, "name=value"),
        (("TABLE", "--C", "-1"), 2, "'--C': expected a positive number, got -1"),
        (("nowhere.csv", "--max-iter", str(2**63)), 2, "'--max-iter': expected at most 9223372036854775807"),
        (("nowhere.csv", "--C", "nan"), 2, "'--C': expected a positive number, got nan"),
        (("nowhere.csv", "--C", "inf"), 2, "'--C': expected a positive number, got inf"),
        (("nowhere.csv", "--tol", "0"), 2, "'--tol': expected a positive number, got 0"),
        (("nowhere.csv", "--gamma", "-1"), 2, "'--gamma': expected a positive number, got -1"),
        (("nowhere.csv", "--max-seconds", "-1"), 2, "'--max-seconds': expected a positive number, got -1"),
        (("nowhere.csv", "--max-iter", "0"), 2, "--max-iter"),
        (("nowhere.csv", "--n-jobs", "0"), 2, "'--n-jobs': expected a number of at least 1"),
        (("nowhere.csv", "--features", "foo"), 2, "no features 'foo'"),
        (("TABLE", "--test-size", "7000"), 2, "'--test-size': expected a share between 0 and 1"),
        (("TABLE", "--test-size", "1"), 2, "such as 0.25 for a quarter, got 1"),
        (("TABLE", "--test-size", "0"), 2, "such as 0.25 for a quarter, got 0"),
        (("TABLE", "--method", "labelrankr"), 2, "no method 'labelrankr'; did you mean 'label-ranker'?"),
        (("TABLE", "--method", "mlknn2"), 2, "did you mean 'ml-knn'? 'tagrank methods' lists all methods"),
        (("TABLE", "--C", "ten"), 2, "'--C': expected a number, got 'ten'"),
        (
            ("TABLE", "--seed", "1.5"),
            2,
            "expected a whole number of at least 0 and at most 4294967295, got '1.5'",
        ),
        (("TABLE", "--n-tags", "0"), 2, "'--n-tags': expected a whole number of at least 1, got '0'"),
        (("TABLE", "--memory", "8"), 2, "with its unit, such as 8G or 500M, got '8'"),
        (("TABLE", "--part", "test"), 1, "has no parts, so there is no part 'test'"),
        (("TABLE", "--calibration", "plat"), 2, "got 'plat'; did you mean 'platt'?"),
        (("TABLE", "--view", "gist"), 1, "no view 'gist'"),
        (("TABLE", "--min-count", "1000"), 1, "no tags"),
        (("TABLE", "--kernel", "sigmoid"), 2, "sigmoid"),
        (("TABLE", "--synonym", "sea"), 2, "old=new"),
        (("TABLE", "--synonym", "nowhere.csv"), 1, "nowhere.csv: No such file"),
        (("TABLE", "--hierarchy", "leafs"), 2, "one of keep, leaf, ancestors, or a CSV file"),
        (("TABLE", "--cost", "1"), 2, "--cost"),
        ((), 2, "DATA"),
    ],
)
def test_bad_input_is_one_sentence(tagrank, table, tmp_path, monkeypatch, arguments, code, words):
    monkeypatch.delenv("TAGRANK_DATA", raising=False)
    monkeypatch.setenv("TAGRANK_CACHE", str(tmp_path / "cache"))
    arguments = [table if argument == "TABLE" else argument for argument in arguments]
    result = tagrank("train", *arguments, "-o", tmp_path / "m")
    assert result.exit_code == code
    assert words in " ".join(result.stderr.replace("│", " ").split())
    assert "Value error" not in result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.output
    assert list(tmp_path.iterdir()) == []
    if code == 1:
        assert result.stderr.count("\n") == 1


def test_malformed_line_is_named(tagrank, tmp_path):
    (tmp_path / "bad.csv").write_text("red,tag:sky\n0.5,1\nmuch,0\n")
    result = tagrank("train", tmp_path / "bad.csv", "-o", tmp_path / "m")
    assert result.exit_code == 1
    assert "bad.csv, line 3" in result.stderr


def test_debug_shows_where(tagrank, tmp_path):
    result = tagrank("train", "nowhere.csv", "-o", tmp_path / "m", "--debug")
    assert result.exit_code == 1
    assert "Traceback" in result.stderr
    assert result.stderr.endswith("nowhere.csv: No such file or directory\n")


def test_destination_is_looked_at_before_the_work(tagrank, table, tmp_path):
    (tmp_path / "file").write_text("mine")
    for destination in (tmp_path / "file", tmp_path / "file" / "model"):
        result = tagrank("train", "nowhere.csv", "-o", destination)
        assert result.exit_code == 1
        assert "is a file" in result.stderr
    assert (tmp_path / "file").read_text() == "mine"


def test_a_folder_of_others_stays_as_it_is(tagrank, table, tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.txt").write_text("mine")
    result = tagrank("train", table, "-o", tmp_path / "photos")
    assert result.exit_code == 1
    assert "not a model" in result.stderr
    assert [path.name for path in (tmp_path / "photos").iterdir()] == ["a.txt"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_read_only_folder(tagrank, table, tmp_path):
    tmp_path.chmod(0o500)
    result = tagrank("train", table, "-o", tmp_path / "m")
    assert result.exit_code == 1
    assert "no permission" in result.stderr


def test_full_disk_leaves_the_old_model(tagrank, table, model, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    shutil.copytree(model, tmp_path / "m")
    monkeypatch.setattr("numpy.lib.format.write_array_header_1_0", full)
    result = tagrank("train", table, "-o", tmp_path / "m", "--lower-case")
    assert result.exit_code == 1
    assert result.stderr == f"error: {tmp_path / 'm'}: No space left on device\n"
    assert [path.name for path in tmp_path.iterdir()] == ["m"]
    assert Annotator.load(tmp_path / "m").tags == ["sky", "sea", "boat"]


def test_way_to_the_tolerance_is_counted_in_powers_of_ten():
    assert share_done(1.0, 1.0, 1e-4) == 0
    assert share_done(1.0, 1e-1, 1e-4) == pytest.approx(0.25)
    assert share_done(1.0, 1e-5, 1e-4) == 1
    assert share_done(1.0, 2.0, 1e-4) == 0


def test_a_model_is_chosen_and_what_it_is_worth_stands_at_the_top(tagrank, table, tmp_path):
    result = tagrank("train", table, "-o", tmp_path / "m", "--completeness", 1, "--precision", 0.9)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].startswith("Of 100 predicted tags, ")
    assert lines[1] == "Measured on 60 rows, with models that were not trained on them."
    assert any(line.startswith("chosen ") for line in lines)
    assert "points above the next best" in result.stdout
    assert "true tags listed     100%" in result.stdout
    model = Annotator.load(tmp_path / "m")
    assert model.estimator_.threshold_ == model.estimator_.curve_.for_precision(0.9)
    page = tmp_path / "page.html"
    assert tagrank("evaluate", tmp_path / "m", table, "--report", page).exit_code == 0
    words = page.read_text()
    assert '<p class="quality big">Of 100 predicted tags, ' in words
    for fact in ("How the model was chosen", "points above the next best", "trained on 60 rows; 20"):
        assert fact in words
    assert "The share of pictures whose best tag is wrong." in words


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--calibration", "platt", "--completeness", 0.5), "completeness needs calibration 'shared'"),
        (("--calibration", "shared", "--threshold", "f1"), "needs calibration 'platt' or 'isotonic'"),
        (("--precision", 2), "expected"),
        (("--completeness", 0), "expected"),
    ],
)
def test_options_of_the_probability(tagrank, table, tmp_path, options, sentence):
    result = tagrank("train", table, "-o", tmp_path / "m", *options)
    assert result.exit_code == 2
    assert sentence in " ".join(result.stderr.replace("│", " ").split())
    assert not (tmp_path / "m").exists()


def test_auto_is_explained(tagrank):
    assert "auto, the default, tries label-ranker, " in tagrank("methods").stderr
    assert "tries label-ranker, " in tagrank("methods", "auto").stdout
    assert json.loads(tagrank("methods", "auto", "--json").stdout)[0]["name"] == "auto"
