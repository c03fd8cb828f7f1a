"""Estimators that go from samples to labels through a space of few dimensions."""
