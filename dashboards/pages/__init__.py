"""The dashboard's pages, a module each."""
