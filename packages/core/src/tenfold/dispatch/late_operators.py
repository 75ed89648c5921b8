"""Made by tools/make_stubs.py from the operators' declarations; do not edit."""

BOTH: dict[str, str] = {
    "tenfold.ops.activation": "log_softmax relu* softmax",
    "tenfold.ops.conversion": "clone contiguous cpu cuda to type_as",
    "tenfold.ops.creation.like": "new_empty new_empty_strided new_full new_ones new_tensor new_zeros",
    "tenfold.ops.indexing.along": "gather index_add* index_copy* index_select scatter* scatter_add* scatter_reduce* take",
    "tenfold.ops.indexing.joining": "flip repeat repeat_interleave roll tile tril* triu*",
    "tenfold.ops.indexing.selection": "index_put* masked_select nonzero",
    "tenfold.ops.matmul": "addmm* addmv* baddbmm* bmm dot ger matmul mm mv outer spmm vdot",
    "tenfold.ops.pointwise.arithmetic": (
        "add* addcdiv* addcmul* div* divide* floor_divide* fmod* mul* multiply* neg* negative* positive remainder* rsub sub* "
        "subtract* true_divide*"
    ),
    "tenfold.ops.pointwise.complex_numbers": "angle conj conj_physical* imag real resolve_conj resolve_neg",
    "tenfold.ops.pointwise.elementary": (
        "abs* absolute* acos* acosh* arccos* arccosh* arcsin* arcsinh* arctan* arctanh* asin* asinh* atan* atanh* cos* cosh* "
        "deg2rad* erf* erfc* erfinv* exp* exp2* expm1* log* log10* log1p* log2* logit* rad2deg* reciprocal* rsqrt* sgn* sigmoid* "
        "sign* sin* sinc* sinh* sqrt* square* tan* tanh*"
    ),
    "tenfold.ops.pointwise.filling": "copy_ fill_ masked_fill* zero_",
    "tenfold.ops.pointwise.limits": (
        "ceil* clamp* clamp_max* clamp_min* clip* fix* floor* fmax fmin frac* maximum minimum nan_to_num* round* trunc*"
    ),
    "tenfold.ops.pointwise.logic": (
        "allclose bitwise_and* bitwise_left_shift* bitwise_not* bitwise_or* bitwise_right_shift* bitwise_xor* eq* equal gcd* ge* "
        "greater* greater_equal* gt* isclose isfinite isinf isnan isneginf isposinf lcm* le* less* less_equal* logical_and* "
        "logical_not* logical_or* logical_xor* lt* ne* not_equal* signbit"
    ),
    "tenfold.ops.pointwise.several": (
        "arctan2* atan2* copysign* heaviside* hypot* lerp* logaddexp logaddexp2 nextafter* pow* where xlogy*"
    ),
    "tenfold.ops.random": "bernoulli* exponential_ multinomial normal_ random_ uniform_",
    "tenfold.ops.reduction.ordering": "argmax argmin argsort kthvalue sort topk unique",
    "tenfold.ops.reduction.reductions": "all amax amin aminmax any count_nonzero logsumexp max mean min prod sum sum_to_size",
    "tenfold.ops.reduction.scans": "cumprod* cumsum*",
    "tenfold.ops.reduction.statistics": "bincount norm std var",
    "tenfold.ops.view.forms": (
        "adjoint broadcast_to expand_as flatten moveaxis movedim narrow ravel reshape_as swapaxes swapdims t unflatten view_as"
    ),
    "tenfold.ops.view.parts": "chunk split split_with_sizes unbind",
    "tenfold.ops.view.resizing": "as_strided_ detach_ squeeze_ swapaxes_ swapdims_ t_ transpose_ unsqueeze_",
    "tenfold.ops.view.shapes": "as_strided detach diagonal expand permute reshape select squeeze transpose unfold unsqueeze view",
}
FUNCTIONS: dict[str, str] = {
    "tenfold.ops.activation": "log_softmax_backward softmax_backward softmin threshold_backward",
    "tenfold.ops.conversion": "to_device to_dtype",
    "tenfold.ops.creation.factories": (
        "as_tensor asarray empty empty_strided from_numpy frombuffer full ones scalar_tensor tensor zeros"
    ),
    "tenfold.ops.creation.like": "empty_like full_like ones_like zeros_like",
    "tenfold.ops.creation.sequences": "arange eye linspace",
    "tenfold.ops.indexing.along": "scatter_set*",
    "tenfold.ops.indexing.joining": "cat concat concatenate repeat_places stack",
    "tenfold.ops.indexing.selection": "index",
    "tenfold.ops.indexing.strided": "strided_set strided_sum",
    "tenfold.ops.indexing.subscripts": "getitem",
    "tenfold.ops.pointwise.arithmetic": "add_scaled* floored_quotient sub_scaled* truncated_quotient",
    "tenfold.ops.pointwise.complex_numbers": "complex imag_part real_part view_as_complex view_as_real",
    "tenfold.ops.pointwise.filling": "copy fill zero",
    "tenfold.ops.random": "normal rand rand_like randint randn randn_like randperm",
    "tenfold.ops.reduction.ordering": "kthvalue_pair search_positions searchsorted sort_pair topk_pair unique_parts",
    "tenfold.ops.reduction.reductions": "max_dim min_dim",
    "tenfold.ops.reduction.statistics": "vector_norm",
    "tenfold.ops.view.forms": "broadcast_tensors",
}
METHODS: dict[str, str] = {
    "tenfold.ops._dunders": (
        "__abs__ __add__ __and__ __eq__ __floordiv__ __ge__ __gt__ __iadd__ __iand__ __ifloordiv__ __ilshift__ __imod__ __imul__ "
        "__invert__ __ior__ __ipow__ __irshift__ __isub__ __itruediv__ __ixor__ __le__ __lshift__ __lt__ __matmul__ __mod__ "
        "__mul__ __ne__ __neg__ __or__ __pos__ __pow__ __radd__ __rand__ __rfloordiv__ __rlshift__ __rmatmul__ __rmod__ __rmul__ "
        "__ror__ __rpow__ __rrshift__ __rshift__ __rsub__ __rtruediv__ __rxor__ __sub__ __truediv__ __xor__"
    ),
    "tenfold.ops.conversion": "bfloat16 bool byte cdouble cfloat chalf char double float half int long short type",
    "tenfold.ops.creation.legacy": "new",
    "tenfold.ops.indexing.subscripts": "__delitem__ __getitem__ __setitem__",
    "tenfold.ops.view.forms": "H T mH mT",
    "tenfold.ops.view.resizing": (
        "apply_ dim_order is_nonzero is_pinned is_same_size is_shared map2_ map_ pin_memory resize_ resize_as_ set_ "
        "share_memory_ storage_type"
    ),
}
SIBLINGS_BOTH: dict[str, str] = {
    "tenfold-nn": "renorm_",
    "tenfold-scientific": (
        "addbmm* addr* argwhere as_strided_scatter cauchy_ cholesky cholesky_inverse cholesky_solve combinations corrcoef cov "
        "cross cummax cummin det diag diag_embed diagflat diagonal_scatter diff digamma* dist dsplit eig fill_diagonal_ fliplr "
        "flipud float_power* frexp geometric_ geqrf hash_tensor histc histogram hsplit i0* igamma* igammac* index_fill* "
        "index_reduce* inner inverse isreal istft kron ldexp* lgamma* log_normal_ logcumsumexp logdet lstsq lu lu_solve "
        "masked_scatter* matrix_exp matrix_power median mode msort mvlgamma* nanmean nanmedian nanquantile nansum narrow_copy "
        "nonzero_static orgqr ormqr pinverse polygamma* put* qr quantile rot90 select_scatter slice_scatter slogdet solve stft "
        "svd symeig take_along_dim tensor_split trace triangular_solve unique_consecutive unsafe_chunk unsafe_split "
        "unsafe_split_with_sizes vsplit"
    ),
}
SIBLINGS_FUNCTIONS: dict[str, str] = {
    "tenfold-nn": (
        "_addmm_activation _grouped_mm _int_mm _scaled_grouped_mm _scaled_mm _scaled_mm_v2 adaptive_avg_pool adaptive_avg_pool1d "
        "adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d "
        "affine_grid affine_grid_generator avg_pool avg_pool1d avg_pool2d avg_pool3d bilinear binary_cross_entropy "
        "binary_entropies border_pad channel_shuffle col2im constant_pad constant_pad_nd conv1d conv2d conv3d conv_tbc "
        "conv_transpose1d conv_transpose2d conv_transpose3d convolution cosine_similarity cross_entropy embedding_rows fold "
        "fractional_max_pool2d fractional_max_pool3d gaussian_nll_loss grid_sample grid_sampler grid_sampler_2d grid_sampler_3d "
        "huber_loss im2col interpolate l1_loss linear local_response_norm logit_entropies lp_pool1d lp_pool2d lp_pool3d max_pool "
        "max_pool1d max_pool2d max_pool3d max_unpool1d max_unpool2d max_unpool3d mse_loss multi_margin_loss "
        "multilabel_margin_loss multilabel_soft_margin_loss native_batch_norm native_channel_shuffle native_dropout "
        "native_group_norm native_layer_norm nll_loss normalize one_hot pad pairwise_distance pdist pixel_shuffle "
        "pixel_unshuffle resample rms_norm scaled_dot_product_attention smooth_l1_loss soft_margin_loss "
        "triplet_margin_with_distance_loss unfold_blocks"
    ),
    "tenfold-scientific": (
        "_sample_dirichlet _segment_reduce _standard_gamma atleast_1d atleast_2d atleast_3d bartlett_window binomial "
        "blackman_window block_diag bucketize cartesian_prod chain_matmul cholesky_inverted cholesky_solution column_stack "
        "complex_transform cumulative_trapezoid determinant dstack einsum empty_permuted fill_diagonal frobenius_norm gradient "
        "hamming_window hann_window histogramdd hstack isin kaiser_window ldl_packed lobpcg log_determinant logspace lu_packed "
        "lu_unpack mantissa_exponent matrix_rank median_dim median_value meshgrid norm_except_dim nuclear_norm pca_lowrank "
        "pivot_order poisson polar pseudo_inverse randint_like range real_inverse_transform real_transform reduced_segments "
        "row_stack segment_reduce std_mean svd_lowrank svd_triple tensordot trapezoid trapz triangular_solution tril_indices "
        "triu_indices unravel_index vander var_mean vstack"
    ),
}
SIBLINGS_METHODS: dict[str, str] = {
    "tenfold-nn": "hardshrink prelu renorm threshold*",
}
