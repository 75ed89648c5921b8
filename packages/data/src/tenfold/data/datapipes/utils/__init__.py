"""What pipes of files are made with: streams that close themselves, decoders by the endings of names."""
