"""Activation functions and softmax."""
