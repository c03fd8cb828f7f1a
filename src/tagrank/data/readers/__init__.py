"""One file a format of files with data, as `tagrank.formats` lists them; `folders/` has one a layout."""
