"""Faster CPU kernels for some of Tenfold's operators, made with LLVM. Read expressions, functions, loops, compiler, kernels."""
