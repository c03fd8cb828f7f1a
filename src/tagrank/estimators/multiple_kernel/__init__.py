"""Estimators that learn how to weigh several kernels, one file each."""
