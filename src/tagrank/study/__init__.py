"""Experiments, tables and reports, and the functions behind the commands of the same names.

Names are resolved on first use: listing the methods should not wait for scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tagrank.study.comparison import Comparison, Outcome, compare
    from tagrank.study.demonstration import Demonstration, demo
    from tagrank.study.evaluation import Annotation, Evaluation, annotate, evaluate
    from tagrank.study.listings import Dataset, FeatureSet, datasets, features
    from tagrank.study.method_catalog import Method, methods, read_parameters
    from tagrank.study.method_parameters import Parameter
    from tagrank.study.missing_result import MissingTags, Suggestion
    from tagrank.study.missing_tags import missing
    from tagrank.study.report import MethodResult, ReportPicture, write_report
    from tagrank.study.training import Training, train

_HOMES = {
    "comparison": ["Comparison", "Outcome", "compare"],
    "demonstration": ["Demonstration", "demo"],
    "evaluation": ["Annotation", "Evaluation", "annotate", "evaluate"],
    "listings": ["Dataset", "FeatureSet", "datasets", "features"],
    "method_catalog": ["Method", "methods", "read_parameters"],
    "method_parameters": ["Parameter"],
    "missing_result": ["MissingTags", "Suggestion"],
    "missing_tags": ["missing"],
    "report": ["MethodResult", "ReportPicture", "write_report"],
    "training": ["Training", "train"],
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Annotation",
    "Comparison",
    "Dataset",
    "Demonstration",
    "Evaluation",
    "FeatureSet",
    "Method",
    "MethodResult",
    "MissingTags",
    "Outcome",
    "Parameter",
    "ReportPicture",
    "Suggestion",
    "Training",
    "annotate",
    "compare",
    "datasets",
    "demo",
    "evaluate",
    "features",
    "methods",
    "missing",
    "read_parameters",
    "train",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'tagrank.study' has no attribute {name!r}")
    return getattr(import_module(f"tagrank.study.{_HOME_OF[name]}"), name)
