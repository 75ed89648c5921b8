"""Differences from PyTorch that random programs may show, each with its reason: what docs/differences.md tells at length.

A row is a pattern of the operator, one of the difference as the fuzzer names it, and why a user of PyTorch would accept it.
`[...]` at a difference's end is what circumstances.py found out about the statement: with it a row holds for that case alone.
"""

from __future__ import annotations

import accepted_gradients  # type: ignore[import-not-found] # beside this file

ACCEPTED = [
    *accepted_gradients.ACCEPTED,
    (
        r"any operator",
        r"a complex derivative that PyTorch lacks",
        "the formula of the real one holds; PyTorch says it cannot yet",
    ),
    (
        r"any operator",
        r"a backward pass that does not read what was overwritten",
        "the gradient is that of the values before; PyTorch keeps more",
    ),
    (r"any operator", r"a backward pass after what was saved was detached", "detach_ leaves the value as it was"),
    (r"any operator", r"an assertion inside PyTorch fails", "PyTorch's own message asks for a report"),
    (
        r"any operator",
        r"a product of small integers after a sum in int64",
        "einsum sums in int64, and PyTorch then multiplies it by what it was",
    ),
    (
        r"any operator",
        r"the gradient of a real tensor that became complex",
        "its real part; PyTorch checks the dtype before it takes that",
    ),
    (r"any operator", r"a view of the only element along a dimension", "the stride of a dimension of size 1 means nothing"),
    (r"any operator|kron", r"a view inside PyTorch's operator fails", "of transposed matrices; the product exists"),
    (r"any operator", r"a zero without memory", "PyTorch's derivative of sgn is a zero that cannot be written; here it can"),
    (
        r"any operator",
        r"a second pass over a graph that keeps nothing",
        "nothing was freed that this pass needs, and its gradient is right",
    ),
    (r"any operator", r"a second derivative that PyTorch lacks", "gradgradcheck holds ours; PyTorch says it cannot yet"),
    (r"any operator", r"a derivative of remainder that PyTorch lacks", "of a number by a tensor; that of two tensors holds"),
    (
        r"any operator",
        r"a number beyond half precision",
        "PyTorch makes it inf in tensors of one element and refuses it in others",
    ),
    (r"any operator", r"a bias of another dtype", "PyTorch takes it with inputs that lie apart and refuses it with others"),
    (r"any operator", r"a view beyond a result's memory", "PyTorch's result lies in more memory than it has elements"),
    (
        r".*",
        r".* \[inside PyTorch's backward pass\]",
        "a formula of PyTorch's own breaks its rules for users: the call was accepted, its gradient exists",
    ),
    (
        r".*",
        r"(grad )?value(-complex)?(-nonfinite)? \[no degree of freedom\]",
        "a variance of too few numbers is no number; both warn",
    ),
    (
        r".*",
        r"(grad is None|kind of result|error:|shape|requires_grad|(grad )?value).* \[changed without recording\]",
        "PyTorch makes the graph of a view anew after an unrecorded write to its memory, and loses what was before, hooks too",
    ),
    (
        r".*",
        r"(kind of result Tensor / NoneType|(grad )?value.*) \[a shape changed without recording\]",
        "the gradient is turned back; PyTorch sends one of the new shape through the node of the old",
    ),
    (
        r"setitem",
        r"error: RuntimeError / None \[a view that was not looked at\]",
        "PyTorch takes a view for a leaf after a write through a view of it, until someone asks for its graph",
    ),
    (
        r"any operator|.*",
        r"a backward that PyTorch allows is refused: modified in place \[changed without recording\]",
        "of a view whose graph PyTorch has made anew since, so that nothing leads there any more: it finds no gradient",
    ),
    (
        r"any operator|.*",
        r"a backward that PyTorch allows is refused: modified in place \[a batch that lies apart\]",
        "a product keeps what it was given; PyTorch keeps its own copy, where a batch of matrices has to be made one",
    ),
    (
        r"any operator|.*",
        r"a backward that PyTorch allows is refused: modified in place \[a Kronecker product\]",
        "PyTorch's gradient is that of numbers written since, a wrong one",
    ),
    (r".*", r"value(-complex)?(-nonfinite)? \[bits of another dtype\]", "the same bits but for the last read as a large number"),
    (
        r".*",
        r"value \[rounding of the arguments' dtype\]",
        "single precision in an output of double: PyTorch's sqrt is not always the nearest",
    ),
    (r".*", r"value \[rounding of a sum\]", "within the dtype's rounding of the terms' sizes"),
    (
        r".*",
        r"value(-nonfinite)? \[an output that is read\]",
        "a part of the output is an argument: what is read after it was written",
    ),
    (r".*", r"stride \[of an argument\]", "follows from an argument whose strides, those of dimensions of size 1 too, differ"),
    (r".*", r"stride \[of broadcast arguments\]", "whose order a result has that is larger than each of its arguments"),
    (r"any operator", r"a gradient that PyTorch takes the negative of a bool for", "0 and 1 have negatives as numbers"),
    (
        r"any operator|.*",
        r"(a backward that PyTorch allows is refused: modified in place|error: None / RuntimeError) \[logits of a loss\]",
        "cross_entropy keeps the logits in place of their probabilities, half the memory; a copy frees them",
    ),
    (
        r"any operator|.*",
        r"a write to a leaf that PyTorch allows is refused \[detached\]",
        "a view of what was detached in place: its gradient and its base's part; PyTorch lets logical operators write alone",
    ),
    (
        r".*",
        r"value-nonfinite \[terms beyond float32\]",
        "infinity and terms that overflow are added in some order: ours is what float64 says",
    ),
    (
        r"prod",
        r"value-(complex-)?nonfinite \[zero among numbers that overflow\]",
        "by the order of the factors infinity meets 0, or 0 comes first",
    ),
    (
        r".*",
        r"index put of another dtype is accepted( \[empty\])? \[a mask of bytes\]",
        "deprecated masks of uint8 are masks as bools are, which convert the number that they write",
    ),
    (
        r"any operator|.*",
        r"a backward that PyTorch allows is refused: graph freed \[all of a tensor was written\]",
        "PyTorch writes the tensor itself where a slice is all of it; retain_graph=True says what is meant",
    ),
    (
        r"any operator|.*",
        r"a backward that PyTorch allows is refused: graph freed \[slices were added\]",
        "index_add keeps its positions, PyTorch's only where their source has a gradient; retain_graph=True says what is meant",
    ),
    (
        r"getitem|setitem",
        r"error: None / IndexError \[nothing is selected\]",
        "PyTorch looks at no index where another one leaves no elements",
    ),
    (
        r".*",
        r"in-place rules of views .* \[(a comparison in place|of integers)\]",
        "what is written is a constant: no gradient whose way through the view could be unclear",
    ),
    (
        r"select_scatter|slice_scatter|diagonal_scatter",
        r"value(-nonfinite)? \[copies that overlap\]",
        "PyTorch copies elements that share a place with that place, and writes several of them at once",
    ),
    (
        r"(F\.)?normalize|norm",
        r"value(-nonfinite)? \[the size of one large number\]",
        "its absolute value; PyTorch's square of a number without dimensions overflows, and that of a vector of one does not",
    ),
    (r"ldexp", r"value(-nonfinite)? \[an exponent beyond 32 bits\]", "PyTorch keeps the low 32 bits of the exponent"),
    (
        r"fuzzer",
        r"RuntimeError: Output \d+ of \w+ is a view and its base or another view of its base has been modified inplace.*",
        "PyTorch refuses to say whose view a tensor is, which the fuzzer asks",
    ),
    (
        r"remainder|fmod|%|floor_divide|div|//",
        r"error: RuntimeError / None \[an output that is read\]",
        "PyTorch divides by what it has written in the divisor's place",
    ),
    (
        r"any|all",
        r"value \[truth in bytes\]",
        "PyTorch casts numbers to bytes before it asks whether they are zero: 0.5 is false",
    ),
    (r"any operator", r"a derivative of an in-place form that PyTorch lacks", "that of the other form"),
    (
        r"matmul|any operator",
        r"(error: RuntimeError / None|a write that would not fit is accepted) \[an output that lies apart\]",
        "PyTorch folds a batch into rows, whose product it cannot write to an output that is not contiguous",
    ),
    (r"tril|triu|matmul", r"value \[an output that lies apart\]", "PyTorch writes beside outputs that are not contiguous"),
    (
        r".*",
        r"error: None / RuntimeError \[2 \*\* 63\]",
        "int64 ends one before it; PyTorch rounds that limit to 2 ** 63 and writes the least integer",
    ),
    (
        r".*",
        r"value-nonfinite \[the parts of an infinite number\]",
        "how inf and nan share out to the parts of a complex number is not defined; PyTorch's sums multiply by 1 + 0j",
    ),
    (r"sgn", r"value-complex-nonfinite", "the direction of an infinite number; PyTorch divides inf by inf"),
    (
        r"\*\*|pow|float_power",
        r"value-complex-nonfinite( \[half\])?",
        "x ** 0 is 1 and x ** 1 is x, as of real numbers; how inf and nan share out to the parts is not defined",
    ),
    (r"\*\*|pow", r"stride", "powers of integers, memory order of a fresh result"),
    (
        r"remainder|%",
        r"value-nonfinite \[the smallest and largest numbers\]",
        "the quotient overflows in PyTorch's vectors, and not in its other loops",
    ),
    (
        r"sinh|cosh",
        r"value-nonfinite \[beyond the exponential\]",
        "up to 89.4 they are finite in float32; PyTorch's vectors give infinity from where e**x does, its other loops do not",
    ),
    (
        r"matmul|mm|bmm|addmm|baddbmm|mv|sum|mean|einsum|tensordot",
        r"value(-nonfinite)? \[sums beyond the dtype\]",
        "what exceeds the range depends on the order",
    ),
    (
        r"einsum",
        r"dtype (bool|u?int\d+) / int64",
        "sums of small integers are int64; PyTorch's are not along one element or none",
    ),
    (
        r"inner|tensordot|matmul",
        r"error: None / NotImplementedError",
        "PyTorch multiplies bools with some strides and refuses the others",
    ),
    (r"(F\.)?conv1d", r"value-nonfinite", "infinite weights times the zeros of the padding are nan, or passed over, by the size"),
    (
        r".*",
        r"writes to overlapping memory are accepted \[the same elements\]",
        "what is read where it is written depends on no order",
    ),
    (r".*", r".* \[memory that overlaps itself was written\]", "which of several writes to one place is the last is not defined"),
    (r".*", r".* \[\.data was written\]", "behind the tape's back: what a gradient is then depends on what was kept"),
    (
        r".*",
        r"((grad )?value(-nonfinite)?|kind of result Tensor / NoneType) \[a logical operator in place\]",
        "PyTorch passes the gradient of what was overwritten; it is zero",
    ),
    (
        r".*",
        r"value \[infinite to integer\]",
        "C does not define inf and nan as integers; PyTorch's differ by the width of the vector",
    ),
    (
        r".*",
        r"requires_grad True / False \[of integers\]",
        "PyTorch marks integers as requiring gradients, which integers never have",
    ),
    (r".*", r"requires_grad True / False \[a comparison in place\]", "a truth value is a constant"),
    (
        r"requires_grad",
        r"(is_leaf False / True|requires_grad True / False).* \[of a view whose memory was written\]",
        "of a view that was made, and written, before its base required gradients",
    ),
    (
        r".*",
        r"is_leaf False / True.* \[a view written without recording\]",
        "PyTorch makes the graph of a view anew after an unrecorded write to its memory, also of one that was a leaf of its own",
    ),
    (
        r"fuzzer",
        r"TypeError: Got unsupported ScalarType ComplexHalf",
        "NumPy, by which PyTorch's tensors are read, has no complex32",
    ),
    (
        r"stride\(\)|storage_offset\(\)",
        r"python value \[one element or none\]",
        "what does not lie beside anything has no distance",
    ),
    (r"as_strided", r".* \[one element or none\]", "where nothing begins is not defined, nor what lies beside it"),
    (r"view_as_complex|view dtype", r"error: .* \[one element or none\]", "strides of dimensions of size 1 mean nothing"),
    (r"matmul|inner|dot|mv", r"version after write", "how often PyTorch's own steps write out="),
    (r"T|adjoint|mH|conj|bmm|pad|ldexp|angle|median|nanmedian|stack|conv1d", r"stride", "memory order of a fresh result"),
    (
        r"mode",
        r"value(-nonfinite)? \[nan\]",
        "in rows with nan: the most frequent; PyTorch sorts by <, which nan leaves in disorder",
    ),
    (
        r"mode",
        r"value \[another place of the same number\]",
        "which of the most frequent is named in rows of more than 16, nobody says",
    ),
    (r"histc", r"value \[beside an edge\]", "the bin that the number is in; PyTorch rounds its distance from the first edge"),
    (r"mode", r"error: None / NotImplementedError", "complex numbers have no order, a single one included"),
    (r"median|nanmedian", r"value(-nonfinite)? \[expanded\]", "PyTorch sorts the one element in place and reads beside it"),
    (r"unique", r"(value(-nonfinite)?|shape) \[nan\]", "the order of what is equal to nothing"),
    (r"gcd|lcm", r"value \[the largest integers\]", "the least integer has no absolute value, and multiples overflow"),
    (r"(F\.)?(layer|batch)_norm", r"value(-nonfinite)? \[rows of equal elements\]", "0; PyTorch leaves the rounding of x - mean"),
    (
        r"(F\.)?(layer|batch)_norm",
        r"value \[rows of nearly equal elements\]",
        "within float32's rounding of the true value; PyTorch's variance cancels",
    ),
    (
        r"(F\.)?(layer|batch|group|instance)_norm",
        r"value-nonfinite \[squares beyond the dtype\]",
        "0, a number divided by its infinite deviation; PyTorch's is nan, or 0 in its other loops",
    ),
    (
        r".*",
        r"value(-nonfinite)? \[half\]",
        "no further from float64's than PyTorch's, which rounds after each step, or one rounding",
    ),
    (r"conv1d|F\.conv1d", r"shape( \[half\])?", "without input channels PyTorch's result has no length"),
    (
        r".*",
        r"error: None / RuntimeError( \[empty\])? \[out= repeats elements\]",
        "refused as for every elementwise operator: which of several writes to a place is the last is not defined",
    ),
    (r".*", r"value(-nonfinite)? \[bools of other bytes\]", "bool memory with other bytes than 0 and 1"),
    (r".*", r"error: two mistakes", "a statement with two mistakes is refused for one of them"),
]
