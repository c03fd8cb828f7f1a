"""Which tags are predicted: by the model, by precision, by probability, by number."""

import json

import pytest

import tagrank as library


@pytest.fixture(scope="module")
def shared(tagrank, table, tmp_path_factory):
    """A model with the shared probability."""
    path = tmp_path_factory.mktemp("models") / "shared"
    result = tagrank("train", table, "-o", path, "--method", "one-vs-all", "--C", 1)
    assert result.exit_code == 0, result.output
    return path


def predicted(tagrank, model, table, *options):
    result = tagrank("annotate", model, table, "--json", "--top", 1, *options)
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)["pictures"]
    return [[tag for tag in row["tags"] if tag["predicted"]] for row in rows]


def test_tags_are_predicted_from_a_probability_on(tagrank, shared, table):
    for least in (0.05, 0.9):
        found = [
            tag["probability"]
            for row in predicted(tagrank, shared, table, "--min-probability", least)
            for tag in row
        ]
        assert min(found) >= least
        everything = json.loads(tagrank("annotate", shared, table, "--json", "--top", 3).stdout)["pictures"]
        assert len(found) == sum(tag["probability"] >= least for row in everything for tag in row["tags"])


def test_a_higher_precision_predicts_less_and_is_right_more_often(tagrank, shared, table):
    few, many = (predicted(tagrank, shared, table, "--precision", share) for share in (0.99, 0.5))
    assert 0 < sum(map(len, few)) < sum(map(len, many))
    low, high = (library.evaluate(shared, table, precision=share).quality.right for share in (0.5, 0.99))
    assert high > low


def test_precision_is_what_the_curve_says(shared):
    model = library.Annotator.load(shared)
    assert model.deciding(precision=0.9).min_probability == model.estimator_.curve_.for_precision(0.9)
    assert model.min_probability is None


def test_order_percentage_and_star_agree(tagrank, shared, table):
    rows = json.loads(tagrank("annotate", shared, table, "--json", "--top", 3).stdout)["pictures"]
    for row in rows:
        probabilities = [tag["probability"] for tag in row["tags"]]
        assert probabilities == sorted(probabilities, reverse=True)
        stars = [tag["predicted"] for tag in row["tags"]]
        assert stars == sorted(stars, reverse=True)


def test_at_most_so_many_tags_are_starred(tagrank, shared, table, tmp_path):
    plain = predicted(tagrank, shared, table)
    one = predicted(tagrank, shared, table, "--max-tags", 1)
    assert max(map(len, plain)) > 1
    assert one == [row[:1] for row in plain]
    result = tagrank("annotate", shared, table, "--max-tags", 1, "--why", "-o", tmp_path / "tags.csv")
    assert result.exit_code == 0, result.output
    lines = (tmp_path / "tags.csv").read_text().splitlines()
    assert sum(line.endswith(",1") for line in lines) == sum(map(len, one))


def test_why_is_told_of_the_tags_that_are_predicted(tagrank, shared, table):
    found = json.loads(tagrank("annotate", shared, table, "--json", "--why", "--max-tags", 1).stdout)[
        "pictures"
    ]
    for row in found:
        starred = [tag["tag"] for tag in row["tags"] if tag["predicted"]]
        assert [reason["tag"] for reason in row["why"]] == (starred or [row["tags"][0]["tag"]])


def test_precision_and_probability_exclude_each_other(tagrank, shared, table):
    for command in ("annotate", "evaluate"):
        result = tagrank(command, shared, table, "--precision", 0.8, "--min-probability", 0.5)
        assert result.exit_code == 2
        assert "--min-probability 0.5 and --precision 0.8 cannot be combined" in " ".join(
            result.stderr.split()
        )


def test_a_model_without_the_curve_says_what_to_do(tagrank, model, table, tmp_path):
    """The fixture is calibrated tag by tag: it has probabilities, but knows no precision."""
    result = tagrank("annotate", model, table, "--precision", 0.8)
    assert result.exit_code == 2
    assert "train it again with calibration 'shared'" in " ".join(result.stderr.replace("│", "").split())
    assert tagrank("annotate", model, table, "--min-probability", 0.8).exit_code == 0
    tagrank(
        "train", table, "-o", tmp_path / "raw", "--method", "one-vs-all", "--C", 1, "--calibration", "none"
    )
    result = tagrank("annotate", tmp_path / "raw", table, "--min-probability", 0.8)
    assert result.exit_code == 2
    assert "needs a model with probabilities" in " ".join(result.stderr.replace("│", "").split())


@pytest.mark.parametrize("option", ["--precision", "--min-probability"])
@pytest.mark.parametrize("value", [0, 1.5, "much"])
def test_shares_are_shares(tagrank, shared, table, option, value):
    assert tagrank("annotate", shared, table, option, value).exit_code == 2


def test_a_rare_tag_can_be_starred(tagrank, tmp_path):
    """Three of 120 rows have it; what it looks like is clear."""
    rows = ["x,y,tag:sky,tag:rare"]
    for i in range(120):
        is_rare = i % 40 == 0
        rows.append(f"{i / 120:.3f},{5 if is_rare else 0},{int(i > 60)},{int(is_rare)}")
    table = tmp_path / "rare.csv"
    table.write_text("\n".join(rows) + "\n")
    result = tagrank("train", table, "-o", tmp_path / "m", "--method", "one-vs-all-logistic")
    assert result.exit_code == 0, result.output
    found = predicted(tagrank, tmp_path / "m", table)
    starred = [i for i, row in enumerate(found) if "rare" in [tag["tag"] for tag in row]]
    assert starred == [0, 40, 80]
