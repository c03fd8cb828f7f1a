"""Estimators that learn from streams."""
