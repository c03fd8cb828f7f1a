"""The scikit-learn face of tagrank."""
