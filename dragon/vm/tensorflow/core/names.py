"""The homes of the names directly below `tensorflow`: each is looked up there when it is first asked for."""

# A module and the names that it gives; `name=other` where a name is another one there.
PLACES = {
    "dragon.vm.keras": "initializers losses metrics optimizers",
    "dragon.vm.shared.tensors.tensor": "Tensor",
    "dragon.vm.shared.tensors.variable": "Variable variable_creator_scope",
    "dragon.vm.shared.tensors.shape": "TensorShape",
    "dragon.vm.shared.tensors.convert": "convert_to_tensor",
    "dragon.vm.shared.recording.tape": "GradientTape UnconnectedGradients gradients stop_gradient",
    "dragon.vm.shared.tensors.dtypes": "DType as_dtype",
    "dragon.vm.shared.tensors.indexing": "newaxis",
    "dragon.vm.shared.recording.gradient": "custom_gradient grad_pass_through recompute_grad",
    "core.functions": "function",
    "core.module": "Module name_scope get_current_name_scope",
    "dragon.vm.shared.tensors.devices": "device",
    "core.flow.control": "case cond foldl foldr map_fn scan switch_case vectorized_map while_loop",
    "core.flow.tensor_array": "TensorArray TensorArraySpec",
    "dragon.vm.shared.tensors.type_spec": "NoneTensorSpec TensorSpec TypeSpec type_spec_from_value",
    "dragon.vm.shared.tensors.slices": "IndexedSlices IndexedSlicesSpec",
    "core.flow.execution": "AggregationMethod DeviceSpec VariableAggregation VariableSynchronization "
                           "control_dependencies executing_eagerly get_logger get_static_value group "
                           "guarantee_const init_scope inside_function is_symbolic_tensor is_tensor no_op "
                           "numpy_function print=print_ py_function register_tensor_conversion_function timestamp "
                           "tuple=tuple_",
    "core.places_of_code": "load_library load_op_library",
    "core.protos": "make_ndarray make_tensor_proto",
    "core.flow.asserts": "Assert assert_equal assert_greater assert_less assert_rank ensure_shape",
    "dragon.vm.shared.arrays.creation": "bitcast cast constant eye fill identity identity_n linspace meshgrid one_hot "
                                        "ones ones_like range=range_ rank saturate_cast sequence_mask shape shape_n "
                                        "size zeros zeros_like",
    "dragon.vm.shared.arrays.array": "argsort batch_to_space broadcast_dynamic_shape broadcast_static_shape "
                                     "broadcast_to expand_dims pad required_space_to_batch_paddings reshape reverse "
                                     "reverse_sequence roll searchsorted slice=slice_ sort space_to_batch "
                                     "space_to_batch_nd squeeze strided_slice transpose",
    "dragon.vm.shared.arrays.joining": "concat parallel_stack repeat split stack tile unstack",
    "dragon.vm.shared.arrays.gathering": "boolean_mask dynamic_partition dynamic_stitch gather gather_nd "
                                         "histogram_fixed_width histogram_fixed_width_bins scatter_nd "
                                         "tensor_scatter_nd_add tensor_scatter_nd_max tensor_scatter_nd_min "
                                         "tensor_scatter_nd_sub tensor_scatter_nd_update unique unique_with_counts "
                                         "unravel_index where",
    "core.numbers.clipping": "clip_by_global_norm clip_by_norm clip_by_value",
    "math": "abs acos acosh add add_n argmax argmin asin asinh atan atan2 atanh complex cos cosh cumsum divide equal "
            "exp floor floordiv floormod greater greater_equal less less_equal logical_and logical_not "
            "logical_or maximum minimum mod=floormod multiply negative not_equal pow realdiv reduce_all reduce_any "
            "reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod reduce_sum round scalar_mul sigmoid sign "
            "sin sinh sqrt square subtract tan tanh truediv truncatediv truncatemod",
    "linalg": "eig eigvals einsum matmul matrix_square_root=sqrtm norm tensordot",
    "strings": "as_string",
    "core.text.distances": "edit_distance",
    "core.text.fingerprints": "fingerprint",
    "core.flow.sections": "CriticalSection nondifferentiable_batch_function",
    "core.numbers.filling": "extract_volume_patches ragged_fill_empty_rows ragged_fill_empty_rows_grad",
    "core.numbers.rankings": "approx_top_k",
    "core.numbers.sequences": "random_index_shuffle",
    "core.flow.overrides": "RegisterGradient no_gradient",
    "nn.general": "conv conv2d_backprop_filter_v2 conv2d_backprop_input_v2",
    "core.function_graphs": "Graph Operation",
    "core.first.graphs": "hessians import_graph_def",
    "dragon.vm.shared.data.optional": "OptionalSpec",
    "sparse": "SparseTensor SparseTensorSpec",
    "ragged": "RaggedTensor RaggedTensorSpec",
    "core.numbers.transforms": "fftnd=operator_fftnd ifftnd=operator_ifftnd irfftnd=operator_irfftnd "
                               "rfftnd=operator_rfftnd",
    "core.initializers": "constant_initializer=Constant",
    "dragon.vm.keras.initializers": "ones_initializer=Ones zeros_initializer=Zeros "
                                    "random_normal_initializer=RandomNormal random_uniform_initializer=RandomUniform",
}
