"""Two sets of rows in, similarities out."""
