"""What is declared of columns, without the declarations. It is written from them: see `make declared`."""
