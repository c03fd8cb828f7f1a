"""Rows of features, computed once, in parallel, and kept."""
