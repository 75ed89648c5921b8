"""Made by tools/make_stubs.py from the operators' declarations; do not edit."""

FUNCTIONS: dict[str, str] = {
    "tenfold-nn": (
        "adaptive_avg_pool adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool adaptive_max_pool1d "
        "adaptive_max_pool2d adaptive_max_pool3d affine_grid affine_grid_generator alpha_dropout alpha_dropout_ avg_pool "
        "avg_pool1d avg_pool2d avg_pool3d batch_norm bilinear binary_cross_entropy binary_cross_entropy_with_logits "
        "binary_entropies cdist celu celu_ channel_shuffle col2im constant_pad constant_pad_nd conv1d conv2d conv3d conv_tbc "
        "conv_transpose1d conv_transpose2d conv_transpose3d convolution cosine_embedding_loss cosine_similarity cross_entropy "
        "ctc_loss dropout dropout_ elu elu_ embedding embedding_bag embedding_rows feature_alpha_dropout feature_alpha_dropout_ "
        "feature_dropout feature_dropout_ fold fractional_max_pool2d fractional_max_pool3d gaussian_nll_loss gelu gelu_ "
        "gelu_backward glu grid_sample grid_sampler grid_sampler_2d grid_sampler_3d group_norm hardshrink hardsigmoid "
        "hardsigmoid_ hardswish hardswish_ hardtanh hardtanh_ hinge_embedding_loss huber_loss im2col instance_norm interpolate "
        "kl_div l1_loss layer_norm leaky_relu leaky_relu_ linear local_response_norm logit_entropies logsigmoid lp_pool1d "
        "lp_pool2d lp_pool3d margin_ranking_loss max_pool max_pool1d max_pool2d max_pool3d max_unpool1d max_unpool2d "
        "max_unpool3d mish mish_ mse_loss multi_margin_loss multilabel_margin_loss multilabel_soft_margin_loss native_batch_norm "
        "native_channel_shuffle native_dropout native_group_norm native_layer_norm nll_loss normalize one_hot pad "
        "pairwise_distance pdist pixel_shuffle pixel_unshuffle poisson_nll_loss prelu relu6 relu6_ renorm renorm_ resample "
        "rms_norm scaled_dot_product_attention selu selu_ silu silu_ silu_backward smooth_l1_loss soft_margin_loss softplus "
        "softshrink softsign tanhshrink threshold threshold_ triplet_margin_loss triplet_margin_with_distance_loss unfold_blocks"
    ),
    "tenfold-scientific": (
        "_sample_dirichlet _segment_reduce _standard_gamma addbmm addbmm_ addr addr_ atleast_1d atleast_2d atleast_3d "
        "bartlett_window binomial blackman_window block_diag bucketize cartesian_prod cauchy_ chain_matmul cholesky "
        "cholesky_inverse cholesky_inverted cholesky_solution cholesky_solve column_stack combinations complex_transform "
        "corrcoef cov cross cummax cummin cumulative_trapezoid det determinant diagflat diagonal_scatter diff digamma digamma_ "
        "dist dsplit dstack eig einsum empty_permuted fill_diagonal fill_diagonal_ fliplr flipud float_power float_power_ frexp "
        "frobenius_norm geometric_ geqrf gradient hamming_window hann_window histc histogram histogramdd hsplit hstack i0 i0_ "
        "igamma igamma_ igammac igammac_ index_fill index_fill_ index_reduce index_reduce_ inner inverse isin istft "
        "kaiser_window kron ldexp ldexp_ ldl_packed lgamma lgamma_ lobpcg log_determinant log_normal_ logcumsumexp logdet "
        "logspace lstsq lu lu_packed lu_solve lu_unpack mantissa_exponent masked_scatter masked_scatter_ matrix_exp matrix_power "
        "matrix_rank median median_dim median_value mode msort mvlgamma mvlgamma_ nanmean nanmedian nanquantile nansum "
        "narrow_copy nonzero_static norm_except_dim nuclear_norm orgqr ormqr pca_lowrank pinverse pivot_order poisson polar "
        "polygamma polygamma_ pseudo_inverse put put_ qr quantile randint_like real_inverse_transform real_transform "
        "reduced_segments rot90 row_stack segment_reduce select_scatter slice_scatter slogdet solve std_mean stft svd "
        "svd_lowrank svd_triple symeig take_along_dim tensor_split tensordot trapezoid trapz triangular_solution "
        "triangular_solve unique_consecutive unravel_index unsafe_chunk unsafe_split unsafe_split_with_sizes vander vsplit "
        "vstack"
    ),
}
METHODS: dict[str, str] = {
    "tenfold-nn": "hardshrink prelu renorm renorm_ threshold threshold_",
    "tenfold-scientific": (
        "addbmm addbmm_ addr addr_ cauchy_ cholesky cholesky_inverse cholesky_solve combinations corrcoef cov cross cummax "
        "cummin det diagflat diagonal_scatter diff digamma digamma_ dist dsplit eig fill_diagonal_ fliplr flipud float_power "
        "float_power_ frexp geometric_ geqrf histc histogram hsplit i0 i0_ igamma igamma_ igammac igammac_ index_fill "
        "index_fill_ index_reduce index_reduce_ inner inverse istft kron ldexp ldexp_ lgamma lgamma_ log_normal_ logcumsumexp "
        "logdet lstsq lu lu_solve masked_scatter masked_scatter_ matrix_exp matrix_power median mode msort mvlgamma mvlgamma_ "
        "nanmean nanmedian nanquantile nansum narrow_copy nonzero_static orgqr ormqr pinverse polygamma polygamma_ put put_ qr "
        "quantile rot90 select_scatter slice_scatter slogdet solve stft svd symeig take_along_dim tensor_split triangular_solve "
        "unique_consecutive unsafe_chunk unsafe_split unsafe_split_with_sizes vsplit"
    ),
}
