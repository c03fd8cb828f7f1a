"""One picture in, one row out."""
