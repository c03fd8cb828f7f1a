"""Picture files: read within bounds, found in folders, shown small."""
