"""What belongs to graphs and sessions of TensorFlow 1: made and asked where that is harmless, refused by name else."""

from dragon.core.scopes import contextmanager
from dragon.vm.shared.files.messages import make_message
from dragon.vm.shared.files.protobuf import Field
from dragon.vm.shared.sparse.tensor import SparseTensor

_FLAG, _WHOLE, _TEXT, _REAL, _ENUM = "bool", "int32", "string", "double", "enum"

GPUOptions = make_message(
    "GPUOptions", "How an accelerator is shared.", per_process_gpu_memory_fraction=Field(1, _REAL),
    allocator_type=Field(2, _TEXT), deferred_deletion_bytes=Field(3, "int64"), allow_growth=Field(4, _FLAG),
    visible_device_list=Field(5, _TEXT), polling_active_delay_usecs=Field(6, _WHOLE),
    polling_inactive_delay_msecs=Field(7, _WHOLE), force_gpu_compatible=Field(8, _FLAG))
OptimizerOptions = make_message(
    "OptimizerOptions", "How graphs are improved.", do_common_subexpression_elimination=Field(1, _FLAG),
    do_constant_folding=Field(2, _FLAG), opt_level=Field(3, _ENUM), do_function_inlining=Field(4, _FLAG),
    global_jit_level=Field(5, _ENUM), max_folded_constant_in_bytes=Field(6, "int64"), cpu_global_jit=Field(7, _FLAG))
for _name, _number in (("L1", 0), ("L0", -1), ("DEFAULT", 0), ("OFF", -1), ("ON_1", 1), ("ON_2", 2)):
    setattr(OptimizerOptions, _name, _number)
RewriterConfig = make_message(
    "RewriterConfig", "Which ways of improving graphs are taken.", layout_optimizer=Field(1, _ENUM),
    disable_model_pruning=Field(2, _FLAG), constant_folding=Field(3, _ENUM), memory_optimization=Field(4, _ENUM),
    arithmetic_optimization=Field(7, _ENUM), dependency_optimization=Field(8, _ENUM),
    loop_optimization=Field(9, _ENUM), function_optimization=Field(10, _ENUM), disable_meta_optimizer=Field(19, _FLAG))
for _name, _number in (("DEFAULT", 0), ("ON", 1), ("OFF", 2), ("AGGRESSIVE", 3)):
    setattr(RewriterConfig, _name, _number)
GraphOptions = make_message(
    "GraphOptions", "How graphs run.", enable_recv_scheduling=Field(2, _FLAG),
    optimizer_options=Field(3, OptimizerOptions), build_cost_model=Field(4, "int64"), infer_shapes=Field(5, _FLAG),
    place_pruned_graph=Field(6, _FLAG), enable_bfloat16_sendrecv=Field(7, _FLAG), timeline_step=Field(8, _WHOLE),
    build_cost_model_after=Field(9, "int64"), rewrite_options=Field(10, RewriterConfig))
DeviceCount = make_message("DeviceCount", "How many devices of a kind are used.", key=Field(1, _TEXT),
                           value=Field(2, _WHOLE))
ConfigProto = make_message(
    "ConfigProto", "How a session runs.", intra_op_parallelism_threads=Field(2, _WHOLE),
    placement_period=Field(3, _WHOLE), device_filters=Field(4, _TEXT, True),
    inter_op_parallelism_threads=Field(5, _WHOLE), gpu_options=Field(6, GPUOptions),
    allow_soft_placement=Field(7, _FLAG), log_device_placement=Field(8, _FLAG), use_per_session_threads=Field(9, _FLAG),
    graph_options=Field(10, GraphOptions), operation_timeout_in_ms=Field(11, "int64"),
    isolate_session_state=Field(15, _FLAG))
RunOptions = make_message("RunOptions", "How one run goes.", trace_level=Field(1, _ENUM),
                          timeout_in_ms=Field(2, "int64"), inter_op_thread_pool=Field(3, _WHOLE),
                          output_partition_graphs=Field(5, _FLAG), report_tensor_allocations_upon_oom=Field(7, _FLAG))
for _name, _number in (("NO_TRACE", 0), ("SOFTWARE_TRACE", 1), ("HARDWARE_TRACE", 2), ("FULL_TRACE", 3)):
    setattr(RunOptions, _name, _number)
for _kind in (GPUOptions, OptimizerOptions, GraphOptions, ConfigProto, RunOptions):
    _kind.__module__ = __name__


def refuse(name, instead):
    """Return the error for what only graphs of TensorFlow 1 have."""
    return RuntimeError(f"tf.compat.v1.{name}: Dragon runs TensorFlow 2, which computes at once and has no graph of "
                        f"TensorFlow 1; {instead}")


def _refusing(name, instead):
    def function(*args, **kwargs):
        raise refuse(name, instead)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Raise a RuntimeError: it belongs to graphs of TensorFlow 1; {instead}."
    return function


# Names, and what does the same today.
REFUSED = """
placeholder: use tf.keras.Input, or an argument of a tf.function
placeholder_with_default: use an argument of a tf.function with a default
sparse_placeholder: use tf.keras.Input(sparse=True)
disable_eager_execution: use tf.function for what should be a graph
disable_v2_behavior: run the program with TensorFlow 1, or move it to TensorFlow 2
disable_v2_tensorshape: sizes are ints or None
disable_resource_variables: all variables are resources
disable_control_flow_v2: loops and branches are functions
disable_tensor_equality: compare by `is`, or use Tensor.ref() as a key
get_default_graph: tf.function(f).get_concrete_function(...).graph is a function's
import_graph_def: export the model with tf.saved_model.save, and read it with tf.saved_model.load
wrap_function: use tf.function
gradients: use tf.GradientTape
hessians: use tf.GradientTape.jacobian of tf.GradientTape.gradient
get_session_handle: keep the tensor
get_session_tensor: keep the tensor
"""
for _line in REFUSED.strip().splitlines():
    _name, _, _instead = _line.partition(": ")
    globals()[_name] = _refusing(_name, _instead)


class Session:
    """A session over the graph of TensorFlow 1, which stays empty: it can be made, asked and closed.

    Parameters
    ----------
    target : str, optional
        Must be "": there are no servers.
    graph : None
        There is no graph to be named.
    config : ConfigProto, optional
        Kept; it configures sessions, which have nothing to run.

    """

    def __init__(self, target="", graph=None, config=None):
        if target or graph is not None:
            raise refuse(type(self).__name__, f"a session takes no server and no graph here. Received: "
                         f"target={target!r}, graph={graph!r}")
        if config is not None and not isinstance(config, ConfigProto):
            raise TypeError(f"config must be a tf.ConfigProto, but got {type(config)}")
        self._config = config

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        """Raise: nothing is in the graph; values of tensors are `tensor.numpy()`."""
        raise RuntimeError("The Session graph is empty. Add operations to the graph before calling run(). Dragon runs "
                           f"TensorFlow 2: a tensor's value is tensor.numpy(). Received: fetches={fetches!r}")

    def close(self):
        """Do nothing: nothing is held."""

    def list_devices(self):
        """Return the devices."""
        from dragon.vm.tensorflow.config import list_logical_devices
        return list_logical_devices()

    def __enter__(self):
        raise refuse(f"{type(self).__name__}.__enter__", "call functions, and read tensors by tensor.numpy()")

    def __exit__(self, *_):
        self.close()


class InteractiveSession(Session):
    """A session that is the default one; see `Session`."""


class SparseTensorValue(tuple):
    """The parts of a sparse tensor as arrays.

    Parameters
    ----------
    indices, values, dense_shape : numpy.ndarray
        As of `tf.SparseTensor`.

    """

    _fields = ("indices", "values", "dense_shape")

    def __new__(cls, indices, values, dense_shape):
        return super().__new__(cls, (indices, values, dense_shape))

    indices = property(lambda self: self[0], doc="numpy.ndarray: the places.")
    values = property(lambda self: self[1], doc="numpy.ndarray: the values.")
    dense_shape = property(lambda self: self[2], doc="numpy.ndarray: the sizes.")


def convert_to_tensor_or_sparse_tensor(value, dtype=None, name=None):
    """Return a sparse tensor as it is, anything else as a tensor."""
    from dragon.vm.shared.tensors.convert import convert_to_tensor
    if hasattr(value, "dense_shape"):
        return SparseTensor.from_value(value)
    return convert_to_tensor(value, dtype)


# --- what is so already

def _already(name, told):
    def function(*args, **kwargs):
        return None
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Do nothing: {told}."
    return function


for _name, _told in (("enable_eager_execution", "calls run at once"), ("enable_v2_behavior", "it is TensorFlow 2"),
                     ("enable_resource_variables", "all variables are resources"),
                     ("enable_control_flow_v2", "loops and branches are functions"),
                     ("enable_v2_tensorshape", "sizes are ints or None"),
                     ("enable_tensor_equality", "== compares numbers"),
                     ("reset_default_graph", "the graph is empty"),
                     ("global_variables_initializer", "variables have their values from the beginning"),
                     ("local_variables_initializer", "variables have their values from the beginning"),
                     ("variables_initializer", "variables have their values from the beginning"),
                     ("initialize_all_variables", "variables have their values from the beginning"),
                     ("tables_initializer", "tables have their entries from the beginning")):
    globals()[_name] = _already(_name, _told)


def control_flow_v2_enabled():
    """Return True."""
    return True


def resource_variables_enabled():
    """Return True."""
    return True


def executing_eagerly_outside_functions():
    """Return True: calls outside of functions run at once."""
    return True


def get_default_session():
    """Return None: no session is the default one."""
    return None


@contextmanager
def colocate_with(op, ignore_existing=False):
    """Do nothing: operators run where their tensors are."""
    yield


@contextmanager
def container(container_name):
    """Do nothing: variables are objects of the program."""
    yield
