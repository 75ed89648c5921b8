"""What libraries' tests import from below `torch.testing` and Tenfold has no use for."""
