"""How a class with `__torch_dispatch__` makes its instances, and which of its methods are called."""
import importlib

from dragon.vm.torch.core.device import as_device
from dragon.vm.torch.core.dispatching import wrapper_subclass
from dragon.vm.torch.core.dispatching.mode_stack import _disabled_torch_dispatch_impl, answers
from dragon.vm.torch.core.functions.creation import default_dtype
from dragon.vm.torch.core.layout import strided
from dragon.vm.torch.core.tensor import Tensor

Tensor.__torch_dispatch__ = staticmethod(_disabled_torch_dispatch_impl)
POLICIES = (None, "sizes", "strides")


def _init_subclass(cls, **options):
    """Have a class that answers for operators be asked."""
    super(Tensor, cls).__init_subclass__(**options)
    if "__torch_dispatch__" in cls.__dict__ and answers(cls):
        ask(cls)


def ask(cls):
    """Have a class be asked for operators from now on."""
    if wrapper_subclass.is_adopted(cls):
        return
    # What says calls in operators stands upon the whole face: it is asked for when there is the first to answer.
    importlib.import_module(f"{__package__}.dispatcher").begin()
    wrapper_subclass.adopt(cls)


Tensor.__init_subclass__ = classmethod(_init_subclass)


@staticmethod
def _make_wrapper_subclass(cls, size, strides=None, storage_offset=None, memory_format=None, dtype=None, layout=strided,
                           device=None, pin_memory=False, requires_grad=False, dispatch_sizes_strides_policy=None,
                           dispatch_device=False, dispatch_layout=False, _extra_dispatch_keys=None, storage_size=None):
    """Return an instance of a class of tensors that wrap others: it has a form, and no numbers.

    Parameters
    ----------
    cls : type
        The class, which has a `__torch_dispatch__`.
    size : Sequence[int]
        The shape.
    strides : Sequence[int], optional
        The steps of the axes; row by row without them.
    storage_offset : int, optional
        The place of the first element.
    memory_format : memory_format, optional
        The order of the elements, where no strides say it.
    dtype : dtype, optional
        That of the elements; the default dtype without it.
    layout : layout, optional
        `torch.strided`; others are refused.
    device : Union[device, str], optional
        Where it says that it is.
    pin_memory, dispatch_device, dispatch_layout, _extra_dispatch_keys, storage_size : Any, optional
        Refused.
    requires_grad : bool, optional
        Whether gradients are wanted.
    dispatch_sizes_strides_policy : str, optional
        "sizes" or "strides": whether the methods that tell of these are operators to be answered for; the attribute
        `shape` says what the tensor was made with.

    Returns
    -------
    Tensor
        The instance.

    """
    if not isinstance(cls, type) or not issubclass(cls, Tensor):
        raise TypeError(f"_make_wrapper_subclass: got {cls!r}, expected a subclass of torch.Tensor")
    if not answers(cls):
        raise TypeError(f"_make_wrapper_subclass: {cls.__name__} must define __torch_dispatch__: a wrapper has no "
                        "numbers that operators could compute with")
    if dispatch_sizes_strides_policy not in POLICIES:
        raise RuntimeError("_make_wrapper_subclass: got dispatch_sizes_strides_policy="
                           f"{dispatch_sizes_strides_policy!r}, expected 'sizes' or 'strides'")
    refused = {"layout": layout not in (None, strided) and layout, "pin_memory": pin_memory,
               "dispatch_device": dispatch_device, "dispatch_layout": dispatch_layout,
               "_extra_dispatch_keys": _extra_dispatch_keys, "storage_size": storage_size}
    asked = [f"{name}={value!r}" for name, value in refused.items() if value]
    if asked:
        raise NotImplementedError(f"_make_wrapper_subclass: got {', '.join(asked)}, expected a strided wrapper that "
                                  "says its device itself: define a property of the class for another answer")
    if strides is not None and len(strides) != len(size):
        raise RuntimeError(f"_make_wrapper_subclass: got {len(size)} sizes and {len(strides)} strides, expected one "
                           "for each")
    kind = default_dtype() if dtype is None else dtype
    if requires_grad and not (kind.is_floating_point or kind.is_complex):
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    ask(cls)
    lies = wrapper_subclass.without_numbers(tuple(size), strides, kind, as_device(device), storage_offset or 0,
                                            memory_format)
    made = wrapper_subclass.make(cls, lies, dispatch_sizes_strides_policy)
    if requires_grad:
        made.requires_grad = True
    return made


Tensor._make_wrapper_subclass = _make_wrapper_subclass
