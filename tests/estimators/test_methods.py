"""Methods are found by our names, those of the literature, and those of their classes."""

import pytest

from tagrank.annotation import Recipe
from tagrank.commands.compare.compare import choose_methods
from tagrank.errors import ArgumentError
from tagrank.estimators.methods import METHODS, find_method, method_names, methods


@pytest.mark.parametrize(
    ("known_as", "name"),
    [
        ("ml-knn", "bayesian-neighbors"),
        ("MLkNN", "bayesian-neighbors"),
        ("tagprop", "tag-propagation"),
        ("fasttag", "label-completion"),
        ("boostexter", "boosted-stumps"),
        ("MLR_L1", "label-ranker"),
        ("mlr-gl", "incomplete-label-ranker"),
        ("m3l", "prior-margin"),
        ("jsvm", "joint-svm"),
        ("simplemkl", "multiple-kernel-svm"),
        ("jec", "label-transfer"),
        ("mbrm", "relevance-model"),
        ("Binary Relevance", "one-vs-all"),
        ("rank-svm", "pairwise-ranker"),
        ("svm-perf", "ranking-area-svm"),
        ("LabelRanker", "label-ranker"),
        ("label_ranker", "label-ranker"),
    ],
)
def test_a_method_has_several_names(known_as, name):
    assert find_method(known_as).name == name
    assert [entry.name for entry in methods(known_as)] == [name]
    assert Recipe(known_as).method == name
    assert name in choose_methods(known_as)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_every_name_leads_to_its_method_only(method):
    for word in (method.name, method.estimator, *method.also):
        assert find_method(word) is method
    assert all(find_method(word) in METHODS for word in method_names())


def test_a_published_name_is_proposed():
    with pytest.raises(ArgumentError, match="no method 'boostextr'; did you mean 'boostexter'"):
        find_method("boostextr")
    with pytest.raises(ArgumentError, match="did you mean 'label-ranker'"):
        find_method("label-rankr")
    with pytest.raises(ArgumentError, match="did you mean 'simplemkl'"):
        choose_methods("simpelmkl")
