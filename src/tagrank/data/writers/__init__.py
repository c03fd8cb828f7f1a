"""Tags on their way out: lists and sidecar files. The pictures themselves are never touched."""
