"""Names of TensorFlow 1 that TensorFlow 2 has, there or elsewhere: a module, the home of its names, the names."""
NAMES = """
. .: AggregationMethod Assert DType DeviceSpec GradientTape IndexedSlices IndexedSlicesSpec Module NoneTensorSpec
  RaggedTensor RaggedTensorSpec SparseTensor SparseTensorSpec Tensor TensorArray TensorArraySpec TensorShape
  TensorSpec TypeSpec UnconnectedGradients Variable VariableAggregation VariableSynchronization abs acos acosh add
  add_n argsort as_dtype as_string asin asinh atan atan2 atanh bfloat16 bitcast bool broadcast_dynamic_shape
  broadcast_static_shape broadcast_to case cast clip_by_global_norm clip_by_norm clip_by_value complex complex128
  complex64 concat control_dependencies cos cosh cumsum custom_gradient divide double dynamic_partition dynamic_stitch
  einsum ensure_shape equal executing_eagerly exp eye fftnd fill float16 float32 float64 floor foldl foldr function
  get_logger get_static_value grad_pass_through greater greater_equal group guarantee_const half histogram_fixed_width
  histogram_fixed_width_bins identity identity_n ifftnd init_scope int16 int32 int64 int8 irfftnd is_symbolic_tensor
  is_tensor less less_equal lin_space=linspace linspace logical_and logical_not logical_or make_ndarray
  make_tensor_proto map_fn matmul matrix_square_root maximum meshgrid minimum multiply negative no_op not_equal
  numpy_function one_hot ones parallel_stack pow print py_function qint16 qint32 qint8 quint16 quint8 range rank
  realdiv recompute_grad register_tensor_conversion_function repeat required_space_to_batch_paddings reshape resource
  reverse reverse_v2=reverse rfftnd roll round saturate_cast scalar_mul scan scatter_nd searchsorted sequence_mask
  shape_n sigmoid sign sin sinh slice sort space_to_batch_nd split sqrt square stack stop_gradient strided_slice
  string subtract switch_case tan tanh tensor_scatter_add=tensor_scatter_nd_add tensor_scatter_nd_add
  tensor_scatter_nd_max tensor_scatter_nd_min tensor_scatter_nd_sub tensor_scatter_nd_update
  tensor_scatter_sub=tensor_scatter_nd_sub tensor_scatter_update=tensor_scatter_nd_update tensordot tile timestamp
  truediv truncatediv truncatemod type_spec_from_value uint16 uint32 uint64 uint8 unique unique_with_counts
  unravel_index unstack variant vectorized_map where_v2=where zeros
. io: FixedLenFeature FixedLenSequenceFeature SparseFeature VarLenFeature decode_base64 decode_compressed
  decode_json_example encode_base64 matching_files parse_single_sequence_example parse_tensor read_file
  serialize_tensor write_file
. errors: OpError
. dtypes: QUANTIZED_DTYPES
. math: accumulate_n angle ceil conj cumprod digamma div_no_nan=divide_no_nan erf erfc expm1 floordiv floormod=mod
  igamma igammac imag invert_permutation is_finite is_inf is_nan is_non_decreasing is_strictly_increasing lbeta lgamma
  log log1p log_sigmoid logical_xor mod polygamma real reciprocal rint rsqrt segment_max segment_mean segment_min
  segment_prod segment_sum squared_difference unsorted_segment_max unsorted_segment_mean unsorted_segment_min
  unsorted_segment_prod unsorted_segment_sqrt_n unsorted_segment_sum zeta
. debugging: assert_proper_iterable assert_same_float_dtype check_numerics is_numeric_tensor
. linalg: cholesky cholesky_solve cross diag=tensor_diag diag_part=tensor_diag_part global_norm
  matrix_band_part=band_part matrix_determinant=det matrix_diag=diag matrix_diag_part=diag_part matrix_inverse=inv
  matrix_set_diag=set_diag matrix_solve=solve matrix_solve_ls=lstsq matrix_transpose
  matrix_triangular_solve=triangular_solve qr self_adjoint_eig=eigh self_adjoint_eigvals=eigvalsh svd trace
. signal: fft fft2d fft3d ifft ifft2d ifft3d
. image: random_crop
. random: random_gamma=gamma random_normal=normal random_shuffle=shuffle random_uniform=uniform truncated_normal
. strings: regex_replace string_join=join string_strip=strip string_to_hash_bucket_fast=to_hash_bucket_fast
  string_to_hash_bucket_strong=to_hash_bucket_strong
. sparse: sparse_fill_empty_rows=fill_empty_rows sparse_mask=mask sparse_maximum=maximum sparse_minimum=minimum
  sparse_reorder=reorder sparse_reset_shape=reset_shape sparse_reshape=reshape sparse_retain=retain sparse_slice=slice
  sparse_softmax=softmax sparse_tensor_dense_matmul=sparse_dense_matmul sparse_tensor_to_dense=to_dense
  sparse_to_indicator=to_indicator sparse_transpose=transpose
audio audio: decode_wav encode_wav
autograph autograph: set_verbosity trace
autograph.experimental autograph.experimental: Feature do_not_convert set_loop_options
bitwise bitwise: bitwise_and bitwise_or bitwise_xor invert left_shift right_shift
config config: LogicalDevice LogicalDeviceConfiguration PhysicalDevice experimental_functions_run_eagerly
  experimental_run_functions_eagerly functions_run_eagerly get_logical_device_configuration get_soft_device_placement
  get_visible_devices list_logical_devices list_physical_devices run_functions_eagerly
  set_logical_device_configuration set_soft_device_placement set_visible_devices
config.experimental config.experimental: VirtualDeviceConfiguration enable_tensor_float_32_execution
  get_device_details get_memory_growth get_memory_info get_memory_usage get_virtual_device_configuration
  get_visible_devices list_logical_devices list_physical_devices reset_memory_stats set_memory_growth
  set_virtual_device_configuration set_visible_devices tensor_float_32_execution_enabled
config.optimizer config.optimizer: get_experimental_options get_jit set_experimental_options set_jit
config.threading config.threading: get_inter_op_parallelism_threads get_intra_op_parallelism_threads
  set_inter_op_parallelism_threads set_intra_op_parallelism_threads
data data: Dataset DatasetSpec FixedLengthRecordDataset Iterator NumpyIterator Options TFRecordDataset TextLineDataset
  ThreadingOptions
data.experimental data.experimental: AutoShardPolicy AutotuneAlgorithm AutotuneOptions Counter CsvDataset
  DistributeOptions ExternalStatePolicy OptimizationOptions Optional RandomDataset Reducer ServiceOptions
  ThreadingOptions assert_cardinality bucket_by_sequence_length cardinality choose_from_datasets copy_to_device
  dense_to_ragged_batch enumerate_dataset from_list get_next_as_optional get_single_element get_structure
  group_by_reducer group_by_window ignore_errors make_batched_features_dataset make_csv_dataset map_and_batch
  parallel_interleave parse_example_dataset prefetch_to_device rejection_resample sample_from_datasets scan
  shuffle_and_repeat take_while unbatch unique
data.experimental data: DatasetStructure=DatasetSpec
data.experimental .: Structure=TypeSpec
debugging debugging: Assert assert_proper_iterable assert_same_float_dtype assert_shapes check_numerics
  disable_check_numerics disable_traceback_filtering enable_check_numerics enable_traceback_filtering
  get_log_device_placement is_numeric_tensor is_traceback_filtering_enabled set_log_device_placement
debugging math: is_finite is_inf is_nan is_non_decreasing is_strictly_increasing
distribute distribute: InputContext MirroredStrategy OneDeviceStrategy ReduceOp ReplicaContext Strategy
  get_replica_context get_strategy has_strategy in_cross_replica_context
dtypes dtypes: DType QUANTIZED_DTYPES as_dtype bfloat16 bool cast complex complex128 complex64 double float16 float32
  float64 half int16 int32 int64 int8 qint16 qint32 qint8 quint16 quint8 resource saturate_cast string uint16 uint32
  uint64 uint8 variant
dtypes .: as_string
errors errors: AbortedError AlreadyExistsError CancelledError DataLossError DeadlineExceededError
  FailedPreconditionError InternalError InvalidArgumentError NotFoundError OpError OutOfRangeError
  PermissionDeniedError ResourceExhaustedError UnauthenticatedError UnavailableError UnimplementedError UnknownError
gfile io.gfile: GFile Open=GFile
image image: adjust_brightness adjust_contrast adjust_gamma adjust_hue adjust_jpeg_quality adjust_saturation
  central_crop combined_non_max_suppression convert_image_dtype crop_to_bounding_box decode_and_crop_jpeg decode_bmp
  decode_gif decode_image decode_jpeg decode_png decode_webp encode_jpeg encode_png extract_jpeg_shape extract_patches
  flip_left_right flip_up_down grayscale_to_rgb hsv_to_rgb image_gradients is_jpeg non_max_suppression
  non_max_suppression_overlaps non_max_suppression_padded non_max_suppression_with_scores pad_to_bounding_box
  per_image_standardization psnr random_brightness random_contrast random_crop random_flip_left_right
  random_flip_up_down random_hue random_jpeg_quality random_saturation
  resize_image_with_crop_or_pad=resize_with_crop_or_pad resize_with_crop_or_pad rgb_to_grayscale rgb_to_hsv rgb_to_yiq
  rgb_to_yuv rot90 sobel_edges ssim ssim_multiscale total_variation transpose transpose_image=transpose yiq_to_rgb
  yuv_to_rgb
io io: FixedLenFeature FixedLenSequenceFeature RaggedFeature SparseFeature TFRecordOptions TFRecordWriter
  VarLenFeature decode_and_crop_jpeg decode_base64 decode_bmp decode_compressed decode_gif decode_image decode_jpeg
  decode_json_example decode_png decode_webp encode_base64 encode_jpeg encode_png extract_jpeg_shape is_jpeg
  match_filenames_once matching_files parse_sequence_example parse_single_sequence_example parse_tensor read_file
  serialize_tensor write_file
io.gfile io.gfile: GFile copy exists get_registered_schemes glob isdir join listdir makedirs mkdir remove rename
  rmtree stat walk
linalg linalg: adjoint band_part cholesky cholesky_solve cross det diag diag_part eigh eigvalsh einsum expm eye
  global_norm inv l2_normalize logdet logm lstsq lu lu_matrix_inverse lu_reconstruct lu_solve matmul matrix_rank
  matrix_transpose matvec normalize pinv qr set_diag slogdet solve sqrtm svd tensor_diag tensor_diag_part tensordot
  trace triangular_solve tridiagonal_matmul tridiagonal_solve
lookup lookup: KeyValueTensorInitializer StaticHashTable StaticVocabularyTable TextFileIndex TextFileInitializer
manip .: reverse roll scatter_nd space_to_batch_nd tile
math math: abs accumulate_n acos acosh add add_n angle asin asinh atan atan2 atanh bessel_i0 bessel_i0e bessel_i1
  bessel_i1e ceil conj cos cosh cumprod cumsum cumulative_logsumexp digamma divide divide_no_nan equal erf erfc
  erfcinv erfinv exp expm1 floor floordiv floormod greater greater_equal igamma igammac imag invert_permutation
  is_finite is_inf is_nan is_non_decreasing is_strictly_increasing l2_normalize lbeta less less_equal lgamma log log1p
  log_sigmoid logical_and logical_not logical_or logical_xor maximum minimum mod multiply multiply_no_nan ndtri
  negative nextafter not_equal polygamma polyval pow real reciprocal reciprocal_no_nan reduce_euclidean_norm
  reduce_std reduce_variance rint round rsqrt scalar_mul segment_max segment_mean segment_min segment_prod segment_sum
  sigmoid sign sin sinh softplus softsign sqrt square squared_difference subtract tan tanh top_k truediv
  unsorted_segment_max unsorted_segment_mean unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n
  unsorted_segment_sum xdivy xlog1py xlogy zero_fraction zeta
nest nest: assert_same_structure flatten is_nested map_structure pack_sequence_as
nn nn: atrous_conv2d avg_pool1d avg_pool3d avg_pool_v2=avg_pool batch_normalization bias_add compute_average_loss
  conv1d_transpose conv_transpose ctc_greedy_decoder elu l2_loss l2_normalize leaky_relu local_response_normalization
  log_poisson_loss lrn max_pool1d max_pool2d max_pool3d max_pool_v2=max_pool normalize_moments relu relu6
  scale_regularization_loss selu sigmoid sigmoid_cross_entropy_with_logits silu softplus softsign
  sparse_softmax_cross_entropy_with_logits swish tanh top_k zero_fraction
python_io io: TFRecordOptions TFRecordWriter
ragged ragged: boolean_mask constant map_flat_values range row_splits_to_segment_ids segment_ids_to_row_splits stack
  stack_dynamic_partitions
random random: Algorithm Generator categorical create_rng_state fold_in gamma get_global_generator normal
  set_global_generator shuffle split stateless_binomial stateless_categorical stateless_gamma stateless_normal
  stateless_truncated_normal stateless_uniform truncated_normal uniform
saved_model saved_model: Asset SaveOptions contains_saved_model load_v2=load save
saved_model.experimental saved_model: save
sets sets: difference intersection set_difference=difference set_intersection=intersection set_size=size
  set_union=union size union
signal signal: dct fft fft2d fft3d fftnd fftshift frame hamming_window hann_window idct ifft ifft2d ifft3d ifftnd
  ifftshift inverse_mdct inverse_stft inverse_stft_window_fn irfft irfft2d irfft3d irfftnd
  kaiser_bessel_derived_window kaiser_window linear_to_mel_weight_matrix mdct mfccs_from_log_mel_spectrograms
  overlap_and_add rfft rfft2d rfft3d rfftnd stft vorbis_window
sparse sparse: SparseTensor expand_dims eye fill_empty_rows from_dense mask matmul=sparse_dense_matmul maximum minimum
  reorder reset_shape reshape retain slice softmax sparse_dense_matmul to_dense to_indicator transpose
spectral signal: dct fft fft2d fft3d idct ifft ifft2d ifft3d irfft irfft2d irfft3d rfft rfft2d rfft3d
strings strings: as_string bytes_split format join lower ngrams regex_full_match regex_replace strip
  to_hash_bucket_fast to_hash_bucket_strong unicode_decode unicode_decode_with_offsets unicode_encode unicode_split
  unicode_split_with_offsets unicode_transcode unsorted_segment_join upper
sysconfig sysconfig: get_build_info get_lib
test test: TestCase gpu_device_name is_built_with_cuda is_built_with_gpu_support is_built_with_rocm is_built_with_xla
  is_gpu_available main
train train: BytesList CheckpointManager CheckpointOptions Example ExponentialMovingAverage Feature FeatureList
  FeatureLists Features FloatList Int64List SequenceExample checkpoints_iterator get_checkpoint_state
  latest_checkpoint list_variables load_checkpoint load_variable
train io: match_filenames_once
types.experimental types.experimental: FunctionType TensorLike
"""
