"""The module path under which PyTorch keeps the class of jagged nested tensors."""
