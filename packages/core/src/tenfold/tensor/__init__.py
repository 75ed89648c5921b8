"""The tensor: storage shared by views, attributes, printing, copying."""
