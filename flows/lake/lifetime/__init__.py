"""What a lake must know of expired texts and erased rows whenever it is read. How files are rewritten without them."""
