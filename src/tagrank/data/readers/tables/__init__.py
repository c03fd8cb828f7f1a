"""Files with one row a picture: CSV, JSON lines, LIBSVM, NPZ, DataFrames."""
