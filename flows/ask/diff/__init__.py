"""`slowwave inspect diff`: two publishes compared, table by table and row by row."""
