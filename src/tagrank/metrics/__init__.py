"""True labels and scores in, numbers out; unknown labels are masked out."""
