"""Saving and loading: PyTorch's files and safetensors."""
