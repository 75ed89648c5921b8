"""Operator declarations, one family a file: what each operator means, on every device."""
