"""What compiled kernels are called with: native functions for Python, threads and memory, written in LLVM's assembly (*.ll)."""
