"""Where pictures and numbers meet."""
