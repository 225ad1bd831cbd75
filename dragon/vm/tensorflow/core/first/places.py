"""Where the names of `tf.compat.v1` are: its own, and those of TensorFlow 2."""
from dragon.vm.tensorflow.core.first.names import NAMES

OWN = """
. core.first.graphs: ConfigProto GPUOptions GraphOptions InteractiveSession OptimizerOptions RunOptions Session
  SparseTensorValue colocate_with container control_flow_v2_enabled convert_to_tensor_or_sparse_tensor
  disable_control_flow_v2 disable_eager_execution disable_resource_variables disable_tensor_equality
  disable_v2_behavior disable_v2_tensorshape enable_control_flow_v2 enable_eager_execution enable_resource_variables
  enable_tensor_equality enable_v2_behavior enable_v2_tensorshape executing_eagerly_outside_functions
  get_default_graph get_default_session get_session_handle get_session_tensor global_variables_initializer gradients
  hessians import_graph_def initialize_all_variables local_variables_initializer placeholder
  placeholder_with_default reset_default_graph resource_variables_enabled sparse_placeholder tables_initializer
  variables_initializer wrap_function
. core.first.conversions: Print batch_gather clip_by_average_norm convert_to_tensor_or_indexed_slices div floor_div
  multinomial py_func setdiff1d sparse_to_dense string_split to_bfloat16 to_complex128 to_complex64 to_double to_float
  to_int32 to_int64 where
. core.first.variables: GraphKeys VariableScope add_to_collection add_to_collections all_variables assign assign_add
  assign_sub get_collection get_collection_ref get_local_variable get_variable get_variable_scope global_variables
  is_variable_initialized local_variables model_variables moving_average_variables no_regularizer
  report_uninitialized_variables scatter_add scatter_div scatter_max scatter_min scatter_mul scatter_nd_add
  scatter_nd_sub scatter_nd_update scatter_sub scatter_update trainable_variables variable_scope
. core.first.scopes: name_scope op_scope
. dragon.vm.shared.files.events: Event Summary SummaryMetadata
. core.saved_model.messages: AttrValue GraphDef NameAttrList NodeDef
. dragon.vm.shared.seed: set_random_seed=set_seed
. dragon.vm.keras.initializers: constant_initializer=Constant glorot_normal_initializer=GlorotNormal
  glorot_uniform_initializer=GlorotUniform ones_initializer=Ones orthogonal_initializer=Orthogonal
  random_normal_initializer=RandomNormal random_uniform_initializer=RandomUniform
  truncated_normal_initializer=TruncatedNormal variance_scaling_initializer=VarianceScaling zeros_initializer=Zeros
compat compat: as_bytes as_str as_str_any as_text bytes_or_text_types dimension_at_index dimension_value
  forward_compatible integral_types complex_types path_to_str real_types
data core.first.datasets: get_output_classes get_output_shapes get_output_types make_initializable_iterator
  make_one_shot_iterator
gfile core.first.gfile: Copy DeleteRecursively Exists FastGFile Glob IsDirectory ListDirectory MakeDirs MkDir Remove
  Rename Stat Walk
image core.first.images: ResizeMethod resize resize_area resize_bicubic resize_bilinear resize_image_with_pad
  resize_images=resize resize_nearest_neighbor
io core.first.datasets: TFRecordCompressionType tf_record_iterator
linalg linalg: transpose=matrix_transpose
logging core.first.logs: DEBUG ERROR FATAL INFO WARN TaskLevelStatusMessage debug error fatal flush get_verbosity info
  log log_every_n log_first_n log_if set_verbosity vlog warn warning
losses core.first.losses: Reduction absolute_difference add_loss compute_weighted_loss cosine_distance get_losses
  get_regularization_loss get_regularization_losses get_total_loss hinge_loss huber_loss log_loss
  mean_pairwise_squared_error mean_squared_error sigmoid_cross_entropy softmax_cross_entropy
  sparse_softmax_cross_entropy
nn core.first.conversions: dropout fused_batch_norm relu_layer xw_plus_b
python_io core.first.datasets: TFRecordCompressionType tf_record_iterator
random core.first.conversions: multinomial stateless_multinomial
random dragon.vm.shared.seed: set_random_seed=set_seed
saved_model saved_model: load_v2=load
strings core.first.conversions: split=split_strings
test test: TestCase main
train core.first.optimizer: Optimizer
train core.first.optimizers: AdadeltaOptimizer AdagradOptimizer AdamOptimizer GradientDescentOptimizer
  MomentumOptimizer RMSPropOptimizer
train core.first.regularizers: AdagradDAOptimizer FtrlOptimizer ProximalAdagradOptimizer
  ProximalGradientDescentOptimizer
train core.first.training: NewCheckpointReader Saver assert_global_step checkpoint_exists cosine_decay
  cosine_decay_restarts create_global_step exponential_decay get_checkpoint_mtimes get_global_step
  get_or_create_global_step global_step inverse_time_decay linear_cosine_decay natural_exp_decay piecewise_constant
  piecewise_constant_decay polynomial_decay remove_checkpoint summary_iterator update_checkpoint_state
train train: Checkpoint
user_ops core.first.conversions: to_float
summary dragon.vm.shared.files.events: Event Summary
"""
# Modules whose names are all refused, as TensorFlow refuses them outside of graphs or beside Keras 3.
ABSENT = {"metrics": "use tf.keras.metrics", "distributions": "use tensorflow_probability",
          "nn.rnn_cell": "use the cells of tf.keras.layers"}


def _read(*texts):
    """Return {module: {home: names}} of tables."""
    found = {}
    for text in texts:
        lines = []
        for line in text.strip().splitlines():
            if line.startswith("  "):
                lines[-1] += " " + line.strip()
            else:
                lines.append(line)
        for line in lines:
            head, _, names = line.partition(": ")
            module, home = ("" if word == "." else word for word in head.split())
            places = found.setdefault(module, {})
            home = home or "dragon.vm.tensorflow"
            places[home] = f"{places.get(home, '')} {names}"
            for count in range(1, module.count(".") + 1):
                found.setdefault(".".join(module.split(".")[:count]), {})
    return found


PLACES = _read(NAMES, OWN)


def refusing(module, instead):
    """Return the members of a module all of whose names are refused.

    Parameters
    ----------
    module : str
        Its name below `tf.compat.v1`.
    instead : str
        What does the same today.

    """
    def find(name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(f"module 'tensorflow.compat.v1.{module}' has no attribute '{name}': it belongs to graphs "
                             f"of TensorFlow 1; {instead}", name=name)
    return {"__getattr__": find, "__dir__": list}


def absl(name):
    """Return `absl.flags` or `absl.app`, which are TensorFlow's own."""
    try:
        from absl import app, flags
    except ImportError:
        raise ImportError(f"tf.compat.v1.{name}: needs the package absl-py; install it by `pip install absl-py`",
                          name="absl") from None
    return {"app": app, "flags": flags}[name]
