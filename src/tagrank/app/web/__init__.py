"""The desk and the service for programs, over HTTP."""
