"""Factorization of features and labels over one space, by steps on batches of samples."""
