"""Similarities on a GPU."""
