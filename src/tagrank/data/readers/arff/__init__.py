"""ARFF files and the XML beside them."""
