"""Where the tasks of a night run: in this process, or on the workers of Dask or Ray; the results are the same.

A room that knows no table: it is given a function and tasks, which are plain data. Dask and Ray load when
they are chosen.
"""
