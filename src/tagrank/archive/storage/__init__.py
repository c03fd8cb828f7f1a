"""The file of an archive in its folder, and what its user keeps about it elsewhere."""
