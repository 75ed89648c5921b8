"""Reading and writing parts of tensors, joining them, masks."""
