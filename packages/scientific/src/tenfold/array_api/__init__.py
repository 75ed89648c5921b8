"""The Python array API standard, 2025.12: its names and signatures over Tenfold's operators.

`x.__array_namespace__()` is this module, by which scikit-learn and SciPy compute on tensors. Results have the dtype that
the standard says, whatever the dimensions of the operands: a 0-d tensor counts like any other, unlike in `tenfold.add`.
Source: https://data-apis.org/array-api/2025.12

>>> import tenfold
>>> xp = tenfold.ones(2).__array_namespace__()
>>> xp.sum(xp.asarray([[1.0, 2.0], [3.0, 4.0]]), axis=0)
tensor([4., 6.])
"""

from __future__ import annotations

from math import e as e, inf as inf, nan as nan, pi as pi

from tenfold import (
    bool as bool,
    complex64 as complex64,
    complex128 as complex128,
    float32 as float32,
    float64 as float64,
    int8 as int8,
    int16 as int16,
    int32 as int32,
    int64 as int64,
    newaxis as newaxis,
    uint8 as uint8,
    uint16 as uint16,
    uint32 as uint32,
    uint64 as uint64,
)
from tenfold.array_api import fft as fft, linalg as linalg
from tenfold.array_api.creation import (
    arange as arange,
    asarray as asarray,
    empty as empty,
    empty_like as empty_like,
    eye as eye,
    from_dlpack as from_dlpack,
    full as full,
    full_like as full_like,
    linspace as linspace,
    meshgrid as meshgrid,
    ones as ones,
    ones_like as ones_like,
    tril as tril,
    triu as triu,
    zeros as zeros,
    zeros_like as zeros_like,
)
from tenfold.array_api.data_types import (
    astype as astype,
    can_cast as can_cast,
    finfo as finfo,
    iinfo as iinfo,
    isdtype as isdtype,
    result_type as result_type,
)
from tenfold.array_api.elementwise import FUNCTIONS as _ELEMENTWISE, clip as clip
from tenfold.array_api.info import __array_namespace_info__ as __array_namespace_info__
from tenfold.array_api.linalg import (
    matmul as matmul,
    matrix_transpose as matrix_transpose,
    tensordot as tensordot,
    vecdot as vecdot,
)
from tenfold.array_api.manipulation import (
    broadcast_arrays as broadcast_arrays,
    broadcast_shapes as broadcast_shapes,
    broadcast_to as broadcast_to,
    concat as concat,
    expand_dims as expand_dims,
    flip as flip,
    moveaxis as moveaxis,
    permute_dims as permute_dims,
    repeat as repeat,
    reshape as reshape,
    roll as roll,
    squeeze as squeeze,
    stack as stack,
    tile as tile,
    unstack as unstack,
)
from tenfold.array_api.reductions import (
    all as all,
    any as any,
    count_nonzero as count_nonzero,
    cumulative_prod as cumulative_prod,
    cumulative_sum as cumulative_sum,
    diff as diff,
    max as max,
    mean as mean,
    min as min,
    prod as prod,
    std as std,
    sum as sum,
    var as var,
)
from tenfold.array_api.searching import (
    argmax as argmax,
    argmin as argmin,
    argsort as argsort,
    isin as isin,
    nonzero as nonzero,
    searchsorted as searchsorted,
    sort as sort,
    take as take,
    take_along_axis as take_along_axis,
    unique_all as unique_all,
    unique_counts as unique_counts,
    unique_inverse as unique_inverse,
    unique_values as unique_values,
    where as where,
)

__array_api_version__ = "2025.12"
globals().update(_ELEMENTWISE)
