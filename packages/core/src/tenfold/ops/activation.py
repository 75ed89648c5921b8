"""Elementwise nonlinearities of neural networks and softmax."""
