"""Methods that turn the problem into another one, and boosting."""
