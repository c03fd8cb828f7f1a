"""Estimators that rank the labels of a sample."""
