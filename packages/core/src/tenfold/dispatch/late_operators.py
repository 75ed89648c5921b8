"""Made by tools/make_stubs.py from the operators' declarations; do not edit."""

BOTH: dict[str, str] = {
    "tenfold.ops.activation": "log_softmax relu relu_ softmax",
    "tenfold.ops.conversion": "clone contiguous cpu cuda to type_as",
    "tenfold.ops.creation.like": "new_empty new_empty_strided new_full new_ones new_tensor new_zeros",
    "tenfold.ops.indexing.along": (
        "gather index_add index_add_ index_copy index_copy_ index_select scatter scatter_ scatter_add scatter_add_ "
        "scatter_reduce scatter_reduce_ take"
    ),
    "tenfold.ops.indexing.joining": "flip repeat repeat_interleave roll tile tril tril_ triu triu_",
    "tenfold.ops.indexing.selection": "index_put index_put_ masked_select nonzero",
    "tenfold.ops.indexing.strided": "as_strided_scatter",
    "tenfold.ops.matmul": "addmm addmm_ addmv addmv_ baddbmm baddbmm_ bmm dot ger matmul mm mv outer spmm vdot",
    "tenfold.ops.pointwise.arithmetic": (
        "add add_ addcdiv addcdiv_ addcmul addcmul_ div div_ divide divide_ floor_divide floor_divide_ fmod fmod_ mul mul_ "
        "multiply multiply_ neg neg_ negative negative_ positive remainder remainder_ rsub sub sub_ subtract subtract_ "
        "true_divide true_divide_"
    ),
    "tenfold.ops.pointwise.complex_numbers": "angle conj conj_physical conj_physical_ imag real resolve_conj resolve_neg",
    "tenfold.ops.pointwise.elementary": (
        "abs abs_ absolute absolute_ acos acos_ acosh acosh_ arccos arccos_ arccosh arccosh_ arcsin arcsin_ arcsinh arcsinh_ "
        "arctan arctan_ arctanh arctanh_ asin asin_ asinh asinh_ atan atan_ atanh atanh_ cos cos_ cosh cosh_ deg2rad deg2rad_ "
        "erf erf_ erfc erfc_ erfinv erfinv_ exp exp2 exp2_ exp_ expm1 expm1_ log log10 log10_ log1p log1p_ log2 log2_ log_ logit "
        "logit_ rad2deg rad2deg_ reciprocal reciprocal_ rsqrt rsqrt_ sgn sgn_ sigmoid sigmoid_ sign sign_ sin sin_ sinc sinc_ "
        "sinh sinh_ sqrt sqrt_ square square_ tan tan_ tanh tanh_"
    ),
    "tenfold.ops.pointwise.filling": "copy_ fill_ masked_fill masked_fill_ zero_",
    "tenfold.ops.pointwise.limits": (
        "ceil ceil_ clamp clamp_ clamp_max clamp_max_ clamp_min clamp_min_ clip clip_ fix fix_ floor floor_ fmax fmin frac frac_ "
        "maximum minimum nan_to_num nan_to_num_ round round_ trunc trunc_"
    ),
    "tenfold.ops.pointwise.logic": (
        "allclose bitwise_and bitwise_and_ bitwise_left_shift bitwise_left_shift_ bitwise_not bitwise_not_ bitwise_or "
        "bitwise_or_ bitwise_right_shift bitwise_right_shift_ bitwise_xor bitwise_xor_ eq eq_ equal gcd gcd_ ge ge_ greater "
        "greater_ greater_equal greater_equal_ gt gt_ isclose isfinite isinf isnan isneginf isposinf lcm lcm_ le le_ less less_ "
        "less_equal less_equal_ logical_and logical_and_ logical_not logical_not_ logical_or logical_or_ logical_xor "
        "logical_xor_ lt lt_ ne ne_ not_equal not_equal_ signbit"
    ),
    "tenfold.ops.pointwise.several": (
        "arctan2 arctan2_ atan2 atan2_ copysign copysign_ heaviside heaviside_ hypot hypot_ lerp lerp_ logaddexp logaddexp2 "
        "nextafter nextafter_ pow pow_ where xlogy xlogy_"
    ),
    "tenfold.ops.random": "bernoulli bernoulli_ exponential_ multinomial normal_ random_ uniform_",
    "tenfold.ops.reduction.ordering": "argmax argmin argsort kthvalue sort topk unique",
    "tenfold.ops.reduction.reductions": "all amax amin aminmax any count_nonzero logsumexp max mean min prod sum sum_to_size",
    "tenfold.ops.reduction.scans": "cumprod cumprod_ cumsum cumsum_",
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
    "tenfold.ops.indexing.along": "scatter_set scatter_set_",
    "tenfold.ops.indexing.joining": "cat concat concatenate repeat_places stack",
    "tenfold.ops.indexing.selection": "index",
    "tenfold.ops.indexing.strided": "strided_sum",
    "tenfold.ops.indexing.subscripts": "getitem",
    "tenfold.ops.pointwise.arithmetic": "add_scaled add_scaled_ floored_quotient truncated_quotient",
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
SIBLINGS_FUNCTIONS: dict[str, str] = {
    "tenfold-nn": (
        "_addmm_activation _grouped_mm _int_mm _scaled_grouped_mm _scaled_mm _scaled_mm_v2 adaptive_avg_pool adaptive_avg_pool1d "
        "adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d "
        "affine_grid affine_grid_generator alpha_dropout alpha_dropout_ avg_pool avg_pool1d avg_pool2d avg_pool3d batch_norm "
        "bilinear binary_cross_entropy binary_cross_entropy_with_logits binary_entropies border_pad cdist celu celu_ "
        "channel_shuffle col2im constant_pad constant_pad_nd conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d "
        "conv_transpose3d convolution cosine_embedding_loss cosine_similarity cross_entropy ctc_loss dropout dropout_ elu elu_ "
        "embedding embedding_bag embedding_rows feature_alpha_dropout feature_alpha_dropout_ feature_dropout feature_dropout_ "
        "fold fractional_max_pool2d fractional_max_pool3d gaussian_nll_loss gelu gelu_ gelu_backward glu grid_sample "
        "grid_sampler grid_sampler_2d grid_sampler_3d group_norm hardshrink hardsigmoid hardsigmoid_ hardswish hardswish_ "
        "hardtanh hardtanh_ hinge_embedding_loss huber_loss im2col instance_norm interpolate kl_div l1_loss layer_norm "
        "leaky_relu leaky_relu_ linear local_response_norm logit_entropies logsigmoid lp_pool1d lp_pool2d lp_pool3d "
        "margin_ranking_loss max_pool max_pool1d max_pool2d max_pool3d max_unpool1d max_unpool2d max_unpool3d mish mish_ "
        "mse_loss multi_margin_loss multilabel_margin_loss multilabel_soft_margin_loss native_batch_norm native_channel_shuffle "
        "native_dropout native_group_norm native_layer_norm nll_loss normalize one_hot pad pairwise_distance pdist pixel_shuffle "
        "pixel_unshuffle poisson_nll_loss prelu relu6 relu6_ renorm renorm_ resample rms_norm scaled_dot_product_attention selu "
        "selu_ silu silu_ silu_backward smooth_l1_loss soft_margin_loss softplus softshrink softsign tanhshrink threshold "
        "threshold_ triplet_margin_loss triplet_margin_with_distance_loss unfold_blocks"
    ),
    "tenfold-scientific": (
        "_sample_dirichlet _segment_reduce _standard_gamma addbmm addbmm_ addr addr_ argwhere atleast_1d atleast_2d atleast_3d "
        "bartlett_window binomial blackman_window block_diag bucketize cartesian_prod cauchy_ chain_matmul cholesky "
        "cholesky_inverse cholesky_inverted cholesky_solution cholesky_solve column_stack combinations complex_transform "
        "corrcoef cov cross cummax cummin cumulative_trapezoid det determinant diag diag_embed diagflat diagonal_scatter diff "
        "digamma digamma_ dist dsplit dstack eig einsum empty_permuted fill_diagonal fill_diagonal_ fliplr flipud float_power "
        "float_power_ frexp frobenius_norm geometric_ geqrf gradient hamming_window hann_window hash_tensor histc histogram "
        "histogramdd hsplit hstack i0 i0_ igamma igamma_ igammac igammac_ index_fill index_fill_ index_reduce index_reduce_ "
        "inner inverse isin isreal istft kaiser_window kron ldexp ldexp_ ldl_packed lgamma lgamma_ lobpcg log_determinant "
        "log_normal_ logcumsumexp logdet logspace lstsq lu lu_packed lu_solve lu_unpack mantissa_exponent masked_scatter "
        "masked_scatter_ matrix_exp matrix_power matrix_rank median median_dim median_value meshgrid mode msort mvlgamma "
        "mvlgamma_ nanmean nanmedian nanquantile nansum narrow_copy nonzero_static norm_except_dim nuclear_norm orgqr ormqr "
        "pca_lowrank pinverse pivot_order poisson polar polygamma polygamma_ pseudo_inverse put put_ qr quantile randint_like "
        "range real_inverse_transform real_transform reduced_segments rot90 row_stack segment_reduce select_scatter "
        "slice_scatter slogdet solve std_mean stft svd svd_lowrank svd_triple symeig take_along_dim tensor_split tensordot trace "
        "trapezoid trapz triangular_solution triangular_solve tril_indices triu_indices unique_consecutive unravel_index "
        "unsafe_chunk unsafe_split unsafe_split_with_sizes vander var_mean vsplit vstack"
    ),
}
SIBLINGS_METHODS: dict[str, str] = {
    "tenfold-nn": "hardshrink prelu renorm renorm_ threshold threshold_",
    "tenfold-scientific": (
        "addbmm addbmm_ addr addr_ argwhere cauchy_ cholesky cholesky_inverse cholesky_solve combinations corrcoef cov cross "
        "cummax cummin det diag diag_embed diagflat diagonal_scatter diff digamma digamma_ dist dsplit eig fill_diagonal_ fliplr "
        "flipud float_power float_power_ frexp geometric_ geqrf hash_tensor histc histogram hsplit i0 i0_ igamma igamma_ igammac "
        "igammac_ index_fill index_fill_ index_reduce index_reduce_ inner inverse isreal istft kron ldexp ldexp_ lgamma lgamma_ "
        "log_normal_ logcumsumexp logdet lstsq lu lu_solve masked_scatter masked_scatter_ matrix_exp matrix_power median mode "
        "msort mvlgamma mvlgamma_ nanmean nanmedian nanquantile nansum narrow_copy nonzero_static orgqr ormqr pinverse polygamma "
        "polygamma_ put put_ qr quantile rot90 select_scatter slice_scatter slogdet solve stft svd symeig take_along_dim "
        "tensor_split trace triangular_solve unique_consecutive unsafe_chunk unsafe_split unsafe_split_with_sizes vsplit"
    ),
}
