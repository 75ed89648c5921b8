def repr_of(t):
    from tenfold.tensor import host
    return f"tensor({host(t)!r})"
