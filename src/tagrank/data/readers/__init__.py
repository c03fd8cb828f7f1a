"""One file a format of files with data, as `tagrank.data.formats` lists them; `folders/` has one a layout."""
