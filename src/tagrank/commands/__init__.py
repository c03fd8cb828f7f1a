"""One file a command, and the function behind it."""
