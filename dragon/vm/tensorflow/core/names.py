"""Where the names directly below `tensorflow` live: each is looked up there when it is first asked for."""

HERE = "dragon.vm.tensorflow"
# A module below `dragon.vm.tensorflow`, and the names it gives; `name=other` where the module calls it otherwise.
TABLE = """
core.tensor: Tensor
core.variable: Variable
core.shape: TensorShape
core.convert: convert_to_tensor is_tensor
core.tape: GradientTape UnconnectedGradients gradients stop_gradient
core.dtypes: DType as_dtype
core.indexing: newaxis
core.gradient: custom_gradient grad_pass_through recompute_grad
core.function: function
core.module: Module name_scope get_current_name_scope
core.control: case cond foldl foldr map_fn scan switch_case vectorized_map while_loop
core.tensor_array: TensorArray TensorArraySpec
core.type_spec: IndexedSlicesSpec NoneTensorSpec TensorSpec TypeSpec type_spec_from_value
core.slices: IndexedSlices
core.execution: AggregationMethod DeviceSpec VariableAggregation VariableSynchronization control_dependencies device
core.execution: executing_eagerly
core.execution: get_logger get_static_value group guarantee_const init_scope inside_function is_symbolic_tensor no_op
core.execution: numpy_function print=print_ py_function register_tensor_conversion_function timestamp tuple=tuple_
core.protos: make_ndarray make_tensor_proto
core.asserts: Assert assert_equal assert_greater assert_less assert_rank ensure_shape
core.creation: bitcast cast constant eye fill identity identity_n linspace meshgrid one_hot ones ones_like range=range_
core.creation: rank saturate_cast sequence_mask shape shape_n size zeros zeros_like
core.array: argsort batch_to_space broadcast_dynamic_shape broadcast_static_shape broadcast_to concat expand_dims pad
core.array: parallel_stack repeat required_space_to_batch_paddings reshape reverse
core.array: reverse_sequence roll searchsorted slice=slice_ sort space_to_batch
core.array: space_to_batch_nd split squeeze stack strided_slice tile transpose unstack
core.gathering: boolean_mask dynamic_partition dynamic_stitch gather gather_nd histogram_fixed_width
core.gathering: histogram_fixed_width_bins scatter_nd tensor_scatter_nd_add tensor_scatter_nd_max tensor_scatter_nd_min
core.gathering: tensor_scatter_nd_sub tensor_scatter_nd_update unique unique_with_counts unravel_index where
core.clipping: clip_by_global_norm clip_by_norm clip_by_value
math: abs acos acosh add add_n argmax argmin asin asinh atan atan2 atanh complex cos cosh cumsum divide equal exp floor
math: floordiv floormod=floormod greater greater_equal less less_equal logical_and logical_not logical_or maximum
math: minimum mod=floormod multiply negative not_equal pow realdiv reduce_all reduce_any reduce_logsumexp reduce_max
math: reduce_mean reduce_min reduce_prod reduce_sum round scalar_mul sigmoid sign sin sinh sqrt square subtract tan
math: tanh truediv truncatediv truncatemod
linalg: eig eigvals einsum matmul matrix_square_root=sqrtm norm tensordot
strings: as_string
sparse: SparseTensor
ragged: RaggedTensor RaggedTensorSpec
sparse: SparseTensorSpec
nn: conv conv2d_backprop_filter_v2 conv2d_backprop_input_v2
signal: fftnd ifftnd irfftnd rfftnd
initializers: constant_initializer=Constant ones_initializer=Ones zeros_initializer=Zeros
initializers: random_normal_initializer=RandomNormal random_uniform_initializer=RandomUniform
"""
ELSEWHERE = {"keras": "dragon.vm.keras", "initializers": "dragon.vm.keras.initializers",
             "losses": "dragon.vm.keras.losses", "metrics": "dragon.vm.keras.metrics",
             "optimizers": "dragon.vm.keras.optimizers"}


def read_table():
    """Return {name: "module:attribute"} of the table."""
    places = {}
    for line in TABLE.strip().split("\n"):
        module, _, words = line.partition(": ")
        source = ELSEWHERE.get(module, f"{HERE}.{module}")
        for word in words.split():
            name, _, attribute = word.partition("=")
            places[name] = f"{source}:{attribute or name}"
    return places
