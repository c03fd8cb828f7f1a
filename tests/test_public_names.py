"""The public surface, pinned: a name that comes or goes shows up here."""

import pytest

import tagrank

PUBLIC = {
    "AnnotationScores",
    "Annotator",
    "CalibratedRanker",
    "ChiSquared",
    "Collection",
    "FourierMap",
    "Gaussian",
    "Hellinger",
    "Intersection",
    "Kernel",
    "LabelFrequency",
    "LabelRanker",
    "LabelStratifiedKFold",
    "Linear",
    "Metric",
    "MetricRow",
    "MetricTable",
    "ModelFileError",
    "NystroemMap",
    "OneVsAllSVM",
    "Polynomial",
    "RankedTag",
    "RankedTags",
    "__version__",
    "annotate",
    "annotation_scores",
    "approximate",
    "catalog_metrics",
    "category_auc",
    "category_average_precision",
    "check_gram",
    "clean_tags",
    "coverage",
    "datasets",
    "demo",
    "draw_pictures",
    "encode_tag_sets",
    "evaluate",
    "extract_features",
    "f_measure",
    "find_dataset",
    "from_frame",
    "hamming_loss",
    "hide_labels",
    "image_auc",
    "image_average_precision",
    "iterative_split",
    "kernel_from_dict",
    "label_ranking_average_precision",
    "label_states",
    "list_datasets",
    "load_dataset",
    "make_kernel",
    "methods",
    "metric_table",
    "ndcg_at_k",
    "one_error",
    "per_label_table",
    "precision_at_k",
    "ranking_loss",
    "read_collection",
    "recall_at_k",
    "split_by_objects",
    "split_collection",
    "to_frame",
    "train",
    "write_collection",
    "write_report",
}


def test_public_names_are_pinned():
    assert set(tagrank.__all__) == PUBLIC


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_every_public_name_resolves(name):
    assert getattr(tagrank, name) is not None
    assert name in dir(tagrank)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = tagrank.no_such_name
