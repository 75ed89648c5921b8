"""How vmap and forward mode treat the scientific operators; the autograd package imports them."""
