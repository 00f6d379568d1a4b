"""Whether memories help: all together, those of a project, and each, as far as the log can tell."""
