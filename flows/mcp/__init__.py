"""What agents read over the Model Context Protocol: the published tables, read-only, within the limits of a server."""
