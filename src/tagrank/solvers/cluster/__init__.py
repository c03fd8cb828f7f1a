"""Work on the machines of a Dask cluster; `distributed` is an optional library, the extra "dask"."""
