"""Whether answers follow the instructions they were given, where a check can tell (`followed/1`)."""
