"""Python under the operators: Dragon asks `__torch_function__` alone, and says so to what wants more."""
from dragon.vm.torch.core.absent import fill


def is_traceable_wrapper_subclass(t):
    """Return False: no tensor wraps others under the operators."""
    return False


def is_traceable_wrapper_subclass_type(t):
    """Return False: no tensor class wraps others under the operators."""
    return False


def is_in_torch_dispatch_mode(include_infra_modes=True):
    """Return False: there are no such modes."""
    return False


def _get_current_dispatch_mode():
    """Return None: there are no such modes."""
    return None


fill(globals(), "utils._python_dispatch", ["TorchDispatchMode*", "return_and_correct_aliasing",
                                           "transform_subclass", "_disable_current_modes"])
