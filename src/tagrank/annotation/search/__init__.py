"""The search for the best parameters of a method."""
