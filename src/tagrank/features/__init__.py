"""One picture in, one row out."""

from tagrank.features.extraction import extract_features
from tagrank.features.feature import Feature
from tagrank.features.registry import (
    FEATURES,
    PRESETS,
    choose_features,
    feature_from_settings,
    installed_features,
    usual_features,
)

__all__ = [
    "FEATURES",
    "PRESETS",
    "Feature",
    "choose_features",
    "extract_features",
    "feature_from_settings",
    "installed_features",
    "usual_features",
]
