"""The public surface, pinned: a name that comes or goes shows up here, but for those of the methods."""

import pytest

import tagrank
from tagrank.estimators.methods import METHODS

PUBLIC = {
    "AnnotationScores",
    "Annotator",
    "CacheWarning",
    "CalibratedRanker",
    "ChiSquared",
    "Collection",
    "DescribedPictures",
    "Explanation",
    "Feature",
    "FeatureBank",
    "FourierMap",
    "Gaussian",
    "Hellinger",
    "Intersection",
    "Kernel",
    "KernelStack",
    "LabelEstimator",
    "LabelStratifiedKFold",
    "Linear",
    "LowRankStack",
    "MaxMarginEstimator",
    "Metric",
    "MetricRow",
    "MetricTable",
    "ModelFileError",
    "NystroemMap",
    "Polynomial",
    "ProbabilityRanker",
    "Problem",
    "RankedTag",
    "RankedTags",
    "Reading",
    "Recipe",
    "__version__",
    "accept",
    "annotate",
    "annotation_scores",
    "approximate",
    "approximate_stack",
    "backup_decisions",
    "bank_size",
    "audit",
    "catalog_metrics",
    "category_auc",
    "category_average_precision",
    "check_gram",
    "choose_features",
    "change_tags",
    "clean_tags",
    "clear_bank",
    "correlation_prior",
    "compare",
    "coverage",
    "datasets",
    "demo",
    "describe_pictures",
    "draw_pictures",
    "encode_tag_sets",
    "evaluate",
    "explain",
    "export_decisions",
    "extract_features",
    "f_measure",
    "find_dataset",
    "from_frame",
    "hamming_loss",
    "hide_labels",
    "image_auc",
    "image_average_precision",
    "import_decisions",
    "iterative_split",
    "kernel_from_dict",
    "label_ranking_average_precision",
    "label_states",
    "list_datasets",
    "list_reproductions",
    "list_tags",
    "load_dataset",
    "make_kernel",
    "methods",
    "metric_table",
    "missing",
    "ndcg_at_k",
    "one_error",
    "open_stack",
    "per_label_table",
    "precision_at_k",
    "prune_bank",
    "ranking_loss",
    "read_collection",
    "read_keywords",
    "read_picture",
    "read_pictures",
    "read_sidecar",
    "recall_at_k",
    "reproduce",
    "restore_decisions",
    "save_stack",
    "signature_prior",
    "split_by_objects",
    "split_collection",
    "stack_of_kernels",
    "to_frame",
    "train",
    "tune",
    "undo",
    "undo_tags",
    "write_collection",
    "write_report",
    "write_sidecar",
    "write_tags",
}


CLASSES = {method.estimator for method in METHODS}


def test_public_names_are_pinned():
    assert set(tagrank.__all__) == PUBLIC | CLASSES


@pytest.mark.parametrize("name", sorted(PUBLIC | CLASSES))
def test_every_public_name_resolves(name):
    assert getattr(tagrank, name) is not None
    assert name in dir(tagrank)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = tagrank.no_such_name
