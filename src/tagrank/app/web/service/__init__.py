"""Tags for pictures of programs, over HTTP."""
