"""Made by tools/make_stubs.py from the operators' declarations; do not edit."""

FUNCTIONS: dict[str, str] = {
    "tenfold-nn": (
        "adaptive_avg_pool adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_avg_pool_grad adaptive_max_pool "
        "adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d affine_grid alpha_dropout alpha_dropout_ avg_pool "
        "avg_pool1d avg_pool2d avg_pool3d avg_pool_grad batch_norm bilinear binary_cross_entropy "
        "binary_cross_entropy_with_logits binary_entropies binary_entropies_grad cdist celu celu_ channel_shuffle col2im "
        "constant_pad constant_pad_nd conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d "
        "convolution convolution_input_grad convolution_weight_grad cosine_embedding_loss cosine_similarity cross_entropy "
        "ctc_loss dropout dropout_ elu elu_ embedding embedding_bag embedding_rows embedding_weight_grad feature_alpha_dropout "
        "feature_alpha_dropout_ feature_dropout feature_dropout_ fold fractional_max_pool2d fractional_max_pool3d "
        "fused_attention fused_attention_grad fused_batch_norm fused_batch_norm_grad fused_cross_entropy "
        "fused_cross_entropy_grad fused_group_norm fused_group_norm_grad fused_gru fused_gru_grad fused_layer_norm "
        "fused_layer_norm_grad fused_lstm fused_lstm_grad fused_nll_loss fused_nll_loss_grad fused_rms_norm fused_rms_norm_grad "
        "fused_rnn fused_rnn_grad gaussian_nll_loss gelu gelu_ gelu_backward glu grid_sample group_norm hardshrink hardsigmoid "
        "hardsigmoid_ hardswish hardswish_ hardtanh hardtanh_ hinge_embedding_loss huber_loss im2col instance_norm interpolate "
        "kl_div l1_loss layer_norm leaky_relu leaky_relu_ linear local_response_norm logsigmoid lp_pool1d lp_pool2d lp_pool3d "
        "margin_ranking_loss max_pool max_pool1d max_pool2d max_pool3d max_pool_grad max_unpool1d max_unpool2d max_unpool3d mish "
        "mish_ mse_loss multi_margin_loss multilabel_margin_loss multilabel_soft_margin_loss native_channel_shuffle nll_loss "
        "normalize one_hot pad pairwise_distance pdist pixel_shuffle pixel_unshuffle poisson_nll_loss prelu relu6 relu6_ renorm "
        "renorm_ resample resample_grad rms_norm scaled_dot_product_attention selu selu_ silu silu_ silu_backward smooth_l1_loss "
        "soft_margin_loss softplus softshrink softsign tanhshrink threshold threshold_ triplet_margin_loss "
        "triplet_margin_with_distance_loss unfold_blocks"
    ),
    "tenfold-scientific": (
        "_dirichlet_grad _sample_dirichlet _segment_reduce _standard_gamma _standard_gamma_grad atleast_1d atleast_2d atleast_3d "
        "bartlett_window binomial blackman_window block_diag cartesian_prod cauchy_ chain_matmul cholesky cholesky_inverse "
        "cholesky_inverted cholesky_pair cholesky_solution cholesky_solve column_stack combinations complex_transform corrcoef "
        "cov cross cumulative_trapezoid det determinant digamma digamma_ dsplit dstack eig_pair eigh_pair einsum fft_fft "
        "fft_fft2 fft_fftfreq fft_fftn fft_fftshift fft_hfft fft_hfft2 fft_hfftn fft_ifft fft_ifft2 fft_ifftn fft_ifftshift "
        "fft_ihfft fft_ihfft2 fft_ihfftn fft_irfft fft_irfft2 fft_irfftn fft_rfft fft_rfft2 fft_rfftfreq fft_rfftn fliplr flipud "
        "frexp geometric_ geqrf geqrf_pair gradient hamming_window hann_window histc histogram histogramdd hsplit hstack i0 i0_ "
        "igamma igamma_ igammac igammac_ inverse inverse_pair istft kaiser_window kron ldl_packed lgamma lgamma_ linalg_cholesky "
        "linalg_cholesky_ex linalg_cond linalg_cross linalg_det linalg_diagonal linalg_eig linalg_eigh linalg_eigvals "
        "linalg_eigvalsh linalg_householder_product linalg_inv linalg_inv_ex linalg_ldl_factor linalg_ldl_factor_ex "
        "linalg_ldl_solve linalg_lstsq linalg_lu linalg_lu_factor linalg_lu_factor_ex linalg_lu_solve linalg_matrix_exp "
        "linalg_matrix_norm linalg_matrix_power linalg_matrix_rank linalg_multi_dot linalg_norm linalg_pinv linalg_qr "
        "linalg_slogdet linalg_solve linalg_solve_ex linalg_solve_triangular linalg_svd linalg_svdvals linalg_tensorinv "
        "linalg_tensorsolve linalg_vander linalg_vecdot log_determinant log_normal_ logdet logspace lu lu_packed lu_solve "
        "lu_unpack mantissa_exponent matrix_exp matrix_power median median_dim median_value mode mode_pair mvlgamma mvlgamma_ "
        "nanmedian nanquantile orgqr ormqr pca_lowrank pinverse pivot_order poisson polygamma polygamma_ pseudo_inverse qr "
        "qr_pair quantile real_inverse_transform real_transform reduced_segments rot90 row_stack segment_reduce slogdet "
        "solve_pair special_airy_ai special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1 "
        "special_chebyshev_polynomial_t special_chebyshev_polynomial_u special_chebyshev_polynomial_v "
        "special_chebyshev_polynomial_w special_entr special_erfcx special_hermite_polynomial_h special_hermite_polynomial_he "
        "special_i0e special_i1 special_i1e special_laguerre_polynomial_l special_legendre_polynomial_p special_log_ndtr "
        "special_modified_bessel_i0 special_modified_bessel_i1 special_modified_bessel_k0 special_modified_bessel_k1 "
        "special_ndtr special_ndtri special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1 "
        "special_shifted_chebyshev_polynomial_t special_shifted_chebyshev_polynomial_u special_shifted_chebyshev_polynomial_v "
        "special_shifted_chebyshev_polynomial_w special_spherical_bessel_j0 special_xlog1py special_zeta stft svd svd_lowrank "
        "svd_triple tensordot trapezoid trapz triangular_solution triangular_solve vander vsplit vstack"
    ),
}
METHODS: dict[str, str] = {
    "tenfold-nn": "hardshrink prelu renorm renorm_ threshold threshold_",
    "tenfold-scientific": (
        "cauchy_ cholesky cholesky_inverse cholesky_solve combinations corrcoef cov cross det digamma digamma_ dsplit fliplr "
        "flipud frexp geometric_ geqrf histc histogram hsplit i0 i0_ igamma igamma_ igammac igammac_ inverse istft kron lgamma "
        "lgamma_ log_normal_ logdet lu lu_solve matrix_power median mode mvlgamma mvlgamma_ nanmedian nanquantile ormqr pinverse "
        "polygamma polygamma_ qr quantile rot90 slogdet stft svd triangular_solve vsplit"
    ),
}
