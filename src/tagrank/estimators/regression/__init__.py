"""Regression for all labels at once, in closed form."""
