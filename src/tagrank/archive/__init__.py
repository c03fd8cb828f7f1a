"""An archive of pictures: what lies in the folder, and what people decided about its tags, in one SQLite file."""
