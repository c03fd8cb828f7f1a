"""Arrays in, Solution out."""
