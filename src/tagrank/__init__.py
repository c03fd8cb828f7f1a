"""tagrank learns from pictures that carry some of their tags, and ranks every tag for any picture.

Public names are resolved on first use, so that ``import tagrank`` stays fast.
"""

from importlib import import_module

from tagrank._version import __version__
from tagrank.estimators.methods import METHODS

_NAMES = {
    "data": """
        Collection LabelStratifiedKFold Problem ProblemWarning Reading clean_tags find_dataset from_frame
        hide_labels iterative_split list_datasets load_dataset read_collection read_keywords read_picture
        read_pictures read_sidecar split_collection to_frame write_collection write_sidecar write_tags""",
    "data.drawn_pictures": "draw_pictures",
    "features": "Feature choose_features extract_features",
    "kernels": """
        ChiSquared Gaussian Hellinger Intersection Kernel KernelStack Linear LowRankStack Polynomial
        check_gram kernel_from_dict make_kernel open_stack save_stack stack_of_kernels""",
    "kernels.maps": "FourierMap NystroemMap approximate approximate_stack",
    "labels": "encode_tag_sets label_states",
    "estimators": (
        "CalibratedRanker LabelEstimator MaxMarginEstimator ProbabilityRanker correlation_prior "
        "signature_prior"
    ),
    "estimators.methods": "methods",
    "estimators.scorers": """
        LabelScorer category_auc_scorer category_average_precision_scorer get_scorer image_auc_scorer
        image_average_precision_scorer""",
    "metrics": """
        AnnotationScores Metric MetricRow MetricTable annotation_scores catalog_metrics category_auc
        category_average_precision coverage f_measure hamming_loss image_auc image_average_precision
        label_ranking_average_precision metric_table ndcg_at_k one_error per_label_table precision_at_k
        ranking_loss recall_at_k split_by_objects""",
    "annotation": """
        Annotator CacheWarning DescribedPictures Explanation FeatureBank ModelFileError RankedTag RankedTags
        Recipe bank_size clear_bank describe_pictures explain prune_bank""",
    "commands.annotate": "annotate",
    "commands.audit.audit": "audit",
    "commands.compare.compare": "compare",
    "commands.decisions": "backup_decisions export_decisions import_decisions restore_decisions",
    "commands.demo": "demo",
    "commands.evaluate": "evaluate",
    "commands.lists": "datasets",
    "commands.look.look": "look",
    "commands.missing.missing": "missing",
    "commands.reproduce": "list_reproductions reproduce",
    "commands.tags": "change_tags list_tags undo_tags",
    "commands.train": "train",
    "commands.tune": "tune",
    "commands.undo": "accept undo",
    "reports.report": "write_report",
}
_HOME_OF = {name: f"tagrank.{home}" for home, names in _NAMES.items() for name in names.split()}
_ROOMS = ["annotation", "data", "estimators", "features", "kernels", "metrics"]

__all__ = ["__version__", *sorted([*_HOME_OF, *(method.estimator for method in METHODS)])]


def __getattr__(name):
    if name in _HOME_OF:
        return getattr(import_module(_HOME_OF[name]), name)
    for method in METHODS:
        if method.estimator == name:
            return method.load()
    if name in _ROOMS:
        return import_module(f"tagrank.{name}")
    raise AttributeError(f"module 'tagrank' has no attribute {name!r}")


def __dir__():
    return sorted({*__all__, *_ROOMS, *(method.estimator for method in METHODS)})
