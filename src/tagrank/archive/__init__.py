"""An archive of pictures: what lies in its folder, and what people decided about its tags, in one file."""
