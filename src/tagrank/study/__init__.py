"""Experiments, tables and reports."""
