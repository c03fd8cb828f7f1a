"""Labels of similar samples, taken over."""
