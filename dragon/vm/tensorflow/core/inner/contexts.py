"""Contexts and devices: `eager.context`, `client.device_lib`, `framework.smart_cond`, `ops.control_flow_ops`."""
from types import SimpleNamespace

from dragon.core.scopes import contextmanager
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.tensorflow.core.first.places import absl
from dragon.vm.tensorflow.core.flow import control, execution


class Context:
    """The context of calls: they run at once but within `tf.function`."""

    def executing_eagerly(self):
        """Return whether calls run at once."""
        return execution.executing_eagerly()

    def num_gpus(self):
        """Return the number of accelerators."""
        return num_gpus()

    def ensure_initialized(self):
        """Do nothing: nothing waits to be made."""

    def async_wait(self):
        """Do nothing: calls have ended when they return."""

    @property
    def device_name(self):
        """str: the device of new tensors."""
        from dragon.vm.shared.tensors.placing import default_device
        return str(default_device())


_context = Context()


def context():
    """Return the context of calls."""
    return _context


def num_gpus():
    """Return the number of accelerators."""
    from dragon.vm.tensorflow.config import list_physical_devices
    return len(list_physical_devices("GPU"))


@contextmanager
def eager_mode():
    """Compute at once within a `with` block."""
    with execution.init_scope():
        yield


def graph_mode():
    """Raise: graphs of TensorFlow 1 are not here."""
    raise RuntimeError("tensorflow.python.eager.context.graph_mode: Dragon runs TensorFlow 2, which has no graph of "
                       "TensorFlow 1; use tf.function")


def in_eager_mode():
    """Return whether calls run at once."""
    return execution.executing_eagerly()


def list_local_devices(session_config=None):
    """Return the devices with their names and kinds."""
    from dragon.vm.tensorflow.config import list_logical_devices
    return [SimpleNamespace(name=device.name, device_type=device.device_type, memory_limit=0, incarnation=0,
                            physical_device_desc="") for device in list_logical_devices()]


def enabled():
    """Return True: it is TensorFlow 2."""
    return True


def smart_constant_value(pred):
    """Return a condition as a bool where it is known, or None."""
    if not hasattr(pred, "dtype") and pred in (0, 1):
        return bool(pred)
    found = execution.get_static_value(pred)
    return None if found is None else bool(found)


def smart_cond(pred, true_fn=None, false_fn=None, name=None):
    """Return what one of two functions returns; where the condition is known, the other is not looked at."""
    if not callable(true_fn) or not callable(false_fn):
        raise TypeError(f"Arguments `true_fn` and `false_fn` must be callable. Received: {true_fn!r} and {false_fn!r}")
    known = smart_constant_value(pred)
    if known is not None:
        return true_fn() if known else false_fn()
    return control.cond(pred, true_fn, false_fn)


def _of_absl(module):
    """Return the `__getattr__` of a module that is a package's own."""
    def find(name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(absl(module), name)
    return find


def in_xla(graph_or_op=None):
    """Return False: nothing here is compiled by XLA."""
    return False


def with_dependencies(dependencies, output_tensor, name=None):
    """Return a tensor: what stands before it was computed before."""
    return convert_to_tensor(output_tensor) if not hasattr(output_tensor, "_component_tensors") else output_tensor


MEMBERS = {
    "platform.app": {"__getattr__": _of_absl("app")},
    "platform.flags": {"__getattr__": _of_absl("flags")},
    "tf2": {"enabled": enabled},
    "eager.context": {"Context": Context, "context": context, "num_gpus": num_gpus, "eager_mode": eager_mode,
                      "graph_mode": graph_mode, "in_eager_mode": in_eager_mode, "context_safe": context,
                      "GRAPH_MODE": 0, "EAGER_MODE": 1},
    "client.device_lib": {"list_local_devices": list_local_devices},
    "framework.smart_cond": {"smart_cond": smart_cond, "smart_constant_value": smart_constant_value},
    "ops.control_flow_ops": {"with_dependencies": with_dependencies, "cond": control.cond},
    "ops.control_flow_util": {"GraphOrParentsInXlaContext": in_xla, "InXlaContext": in_xla, "IsInXLAContext": in_xla,
                              "ENABLE_CONTROL_FLOW_V2": True, "EnableControlFlowV2": lambda graph: True},
    "ops.cond": {"cond": control.cond},
    "ops.while_loop": {"while_loop": control.while_loop},
}
