"""What is published, copied to where others read: a database of Postgres, or a folder or bucket of Parquet files."""
