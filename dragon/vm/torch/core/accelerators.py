"""Devices that may not be there: honest answers to what asks, an error by name to what would use them."""
from collections import OrderedDict

from dragon.core import config
from dragon.vm.torch.core.device import device as device_class
from dragon.vm.torch.core.sentences import named

# What asks has an answer without a device. A `*` calls the value, so that each caller has its own.
ANSWERS = {
    "is_available": False, "device_count": 0, "is_initialized": False, "is_bf16_supported": False,
    "is_tf32_supported": False, "empty_cache": None, "manual_seed": None, "manual_seed_all": None, "seed": None,
    "seed_all": None, "set_rng_state": None, "set_rng_state_all": None, "get_rng_state_all*": list,
    "memory_allocated": 0, "memory_reserved": 0, "memory_cached": 0, "max_memory_allocated": 0,
    "max_memory_reserved": 0, "max_memory_cached": 0, "memory_stats*": OrderedDict,
    "memory_stats_as_nested_dict*": dict, "get_arch_list*": list, "get_gencode_flags": "", "set_stream": None,
    "host_memory_stats*": OrderedDict, "host_memory_stats_as_nested_dict*": dict, "_is_in_bad_fork": False,
    "caching_allocator_enable": None, "_is_compiled": False,
}


def answer(name, value):
    """Return a function that answers whatever it is given."""
    calls = name.endswith("*")

    def ask(*args, **kwargs):
        return value() if calls else value
    return named(ask, name.rstrip("*"),
                 f"Return {value!r}: there is no such device." if not calls else "Return nothing: no such device.")


def refusal(name, error):
    """Return a function that raises `error()` whatever it is given."""
    def use(*args, **kwargs):
        raise error(name)
    return named(use, name, "Raise: there is no such device.")


def absent_class(name, module, error):
    """Return a class for `isinstance`, of which there can be no instance."""
    def __new__(cls, *args, **kwargs):
        raise error(name)
    return type(name, (), {"__new__": __new__, "__module__": module, "__doc__": "Of a device that is not there."})


def fill(namespace, module, error, uses, classes="", answers=()):
    """Fill a module of a device that is not there.

    Parameters
    ----------
    namespace : dict
        Its globals; what stands there already stays.
    module : str
        The guest's name of the module.
    error : Callable
        Given a name, returns what using it raises.
    uses : str
        The functions that would use the device.
    classes : str, optional, default=""
        The classes of which there can be no instance.
    answers : dict, optional
        Answers that differ from the common ones.

    """
    for name, value in {**ANSWERS, **dict(answers)}.items():
        namespace.setdefault(name.rstrip("*"), answer(name, value))
    for name in uses.split():
        namespace.setdefault(name, refusal(name, error))
    for name in classes.split():
        namespace.setdefault(name, absent_class(name, module, error))


def index_of(where, kind):
    """Return the index that a `device=` argument of a module for one kind of device means; None for its current one."""
    if where is None:
        return None
    if isinstance(where, int):
        return where
    found = device_class(where)
    if found.type != kind:
        raise ValueError(f"Expected a {kind} device, but got: {found}")
    return found.index


def count(kind):
    """Return how many devices of a kind the engine has."""
    return config.device_count(kind)
