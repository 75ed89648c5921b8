"""`torch.ao`: what programs ask of PyTorch's older tools for quantized and sparse models."""
