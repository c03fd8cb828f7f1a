"""One picture in, one row out; each descriptor one file."""

from tagrank.features.colour import colour_histogram
from tagrank.features.edges import edge_histogram
from tagrank.features.extract import FEATURES, extract_features

__all__ = ["FEATURES", "colour_histogram", "edge_histogram", "extract_features"]
