"""Units of layers: functions of one number (curves.py), and gates (gates.py). PyTorch has most as functions only."""
