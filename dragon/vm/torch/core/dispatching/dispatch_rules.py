"""What functions of the API are in aten operators for `__torch_dispatch__`, where exported programs have others."""
import builtins
import operator

from dragon.core import modes as switches
from dragon.core.scopes import ExitStack
from dragon.dialects.aten.table import factories
from dragon.vm.torch.core.device import device as Device
from dragon.vm.torch.core.dispatching import wrapper_subclass
from dragon.vm.torch.core.exporting import subscripts
from dragon.vm.torch.core.exporting.tracer import aten
from dragon.vm.torch.core.exporting.overload_resolution import resolve
from dragon.vm.torch.core.exporting.api_to_aten import RULES
from dragon.vm.torch.core.tensor import Tensor

OWN = {}


def own(*names):
    """Register a function of (dispatcher, the API's function, arguments, arguments by name)."""
    def register(function):
        OWN.update(dict.fromkeys(names, function))
        return function
    return register


@own(*"""requires_grad_ retain_grad register_hook register_post_accumulate_grad_hook backward grad __hash__ __dir__
    as_subclass is_leaf requires_grad _is_view __format__ manual_seed seed get_rng_state
    set_rng_state untyped_storage storage _typed_storage set_""".split())
def _itself(dispatcher, func, args, kwargs):
    """Call the function on the tensor itself: what it does is of no operator."""
    return dispatcher.within(func, args, kwargs)


@own("__repr__", "__str__")
def _shown(dispatcher, func, args, kwargs):
    """Show a wrapper by its form where its class has nothing to say; modes are told nothing of the digits."""
    if not wrapper_subclass.is_wrapper(args[0]):
        return dispatcher.quietly(func, args, kwargs)
    x = args[0]
    asked = ", requires_grad=True" if x.requires_grad else ""
    return f"{type(x).__name__}(..., size={tuple(x.shape)}, dtype={x.dtype}{asked})"


@own("__deepcopy__")
def _copied(dispatcher, func, args, kwargs):
    """Copy a wrapper by its class's `clone`."""
    x, memo = args[0], args[1] if len(args) > 1 else kwargs.get("memo", {})
    if not wrapper_subclass.is_wrapper(x):
        return dispatcher.within(func, args, kwargs)
    if id(x) in memo:
        return memo[id(x)]
    if not x.is_leaf:
        raise RuntimeError("Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol "
                           "at the moment")
    with ExitStack() as exits:
        exits.switch(switches.set_recording, False)
        made = x.clone()
    if type(made) is not type(x):
        raise RuntimeError("The default implementation of __deepcopy__() for wrapper subclasses only works for "
                           f"subclass types that properly implement clone(): got {type(made).__name__} from that of "
                           f"{type(x).__name__}")
    if getattr(x, "_is_param", False):
        made._is_param = True
    made.requires_grad = x.requires_grad
    memo[id(x)] = made
    return made


def _options(kwargs):
    """Return the options of a maker that were said, as operators take them, and those that are none of theirs."""
    kwargs = dict(kwargs)
    wants, out = kwargs.pop("requires_grad", False), kwargs.pop("out", None)
    given = {name: value for name, value in kwargs.items() if not (
        value is None and name in ("dtype", "layout", "device", "generator", "memory_format", "pin_memory", "names"))}
    return given, wants, out


def _maker(name, placed):
    @own(name)
    def made(dispatcher, func, args, kwargs):
        given, wants, out = _options(kwargs)
        if out is not None:
            return dispatcher.default(func, name, args, {**given, "out": out})
        if placed:
            given["device"] = Device(given["device"]) if "device" in given else _usual_device()
        pinned = bool(given.get("pin_memory", False))
        given["pin_memory"] = pinned
        overload, positional, named = resolve(name, args, given)
        target = getattr(getattr(aten(), name), overload)
        result = dispatcher.called(target, positional, {**named, "pin_memory": pinned})
        return result.requires_grad_() if wants else result


def _usual_device():
    from dragon.vm import torch
    return torch.get_default_device()


for _name, _follows in factories().items():
    _maker(_name, not _follows)


@own("tensor", "as_tensor", "scalar_tensor", "asarray", "from_numpy")
def _fresh(dispatcher, func, args, kwargs):
    """Make a tensor of Python's numbers, which is the dispatcher's from then on."""
    value = args[0] if args else next(iter(kwargs.values()), None)
    if isinstance(value, Tensor):
        return dispatcher.within(func, args, kwargs)
    kwargs = dict(kwargs)
    wants = kwargs.pop("requires_grad", False)
    made = dispatcher.quietly(func, args, kwargs)
    made = dispatcher.called(aten().lift_fresh.default, (made,), {}) if func.__name__ == "tensor" else made
    return made.requires_grad_() if wants else made


@own("contiguous")
def _contiguous(dispatcher, func, args, kwargs):
    return dispatcher.default(func, "contiguous", args, kwargs)


@own("cpu", "cuda", "pin_memory")
def _moved(dispatcher, func, args, kwargs):
    x = args[0]
    if func.__name__ == "pin_memory":
        return dispatcher.within(func, args, kwargs)
    return RULES["to"](dispatcher, func, (x, func.__name__, *args[1:]), kwargs)


@own("detach")
def _detached(dispatcher, func, args, kwargs):
    return aten().detach.default(*args)


@own("item", "__bool__", "__float__", "__int__", "__index__")
def _number(dispatcher, func, args, kwargs):
    """Give the only element out, as a Python number of the kind that is asked for."""
    name = func.__name__
    if wrapper_subclass.stand_in(args[0]).numel() != 1:
        return dispatcher.quietly(func, args, kwargs)  # it knows better what is wrong
    found = aten()._local_scalar_dense.default(args[0])
    return found if name == "item" else getattr(builtins, name.strip("_"), operator.index)(found)


@own("mm")
def _product(dispatcher, func, args, kwargs):
    """Multiply: `torch.sparse.mm` that reduces otherwise than by sums has an operator of its own."""
    given = {**dict(zip(("mat1", "mat2", "reduce"), args)), **kwargs}
    if not isinstance(given.get("reduce"), str) or given.get("out") is not None:
        return dispatcher.default(func, "mm", args, kwargs)
    operands = given["mat1"], given["mat2"], given["reduce"]
    return dispatcher.called(aten()._sparse_mm_reduce_impl.default, operands, {})[0]


@own("data_ptr")
def _address(dispatcher, func, args, kwargs):
    return 0 if wrapper_subclass.is_wrapper(args[0]) else dispatcher.quietly(func, args, kwargs)


@own("__reduce_ex__")
def _reduced(dispatcher, func, args, kwargs):
    """Tell how a wrapper is made anew: of its form, and of its attributes, which hold what it wraps."""
    from dragon.vm.torch import _tensor, _utils
    x = args[0]
    if not wrapper_subclass.is_wrapper(x):
        return dispatcher.within(func, args, kwargs)
    lies = wrapper_subclass.stand_in(x)
    form = (type(x), x.dtype, tuple(x.shape), tuple(lies.stride()), lies.storage_offset(), x.layout,
            str(x.device), x.requires_grad)
    return _tensor._rebuild_from_type_v2, (_utils._rebuild_wrapper_subclass, type(x), form, dict(x.__dict__))


@own("__setitem__")
def _written(dispatcher, func, args, kwargs):
    subscripts.write(*args)


@own("numpy", "tolist", "__array__")
def _numbers(dispatcher, func, args, kwargs):
    """Give the numbers out: a mode is told nothing of that, a wrapper has none."""
    if wrapper_subclass.is_wrapper(args[0]):
        raise RuntimeError(f".{func.__name__}() is not supported for tensor subclasses, got "
                           f"{type(args[0]).__name__}: it wraps other tensors and has no numbers of its own")
    return dispatcher.quietly(func, args, kwargs)
