"""What the tags of an archive mean: changes that people made, and what follows for every picture."""
