"""What libraries import from below `torch.utils` and Tenfold has no use for."""
