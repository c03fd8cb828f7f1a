"""Estimators that factorize features and labels together."""
