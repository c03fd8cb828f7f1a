"""Probabilities and thresholds from held-out scores."""
