"""Experiments, tables and reports."""

from tagrank.study.report import MethodResult, ReportPicture, write_report

__all__ = ["MethodResult", "ReportPicture", "write_report"]
