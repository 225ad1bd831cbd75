"""Kinds of tensors that are made of others: what sparse, nested and quantized ones have in common.

Each kind is a class with tables of rules: by the names of the API, by those of operators that the engine calls by
itself, and for whole families of names. The history of such a tensor is that of its numbers, its last part.
"""
from dragon import _C
from dragon.core import parts
from dragon.core.parts import parts_of as look
from dragon.vm.torch.core.overrides import DisableTorchFunctionSubclass, beneath
from dragon.vm.torch.core.python_operators import function_of, is_look
from dragon.vm.torch.core.sentences import named
from dragon.vm.torch.core.tensor import Tensor

KINDS = {}  # by the first word of a layout
FORMS = ("_form", "_is_coalesced")  # what a kind remembers of a tensor beside its parts


class TensorOfParts(Tensor):
    """A tensor without numbers of its own: `torch.Tensor` in another layout."""

    RULES, ENGINE_RULES = {}, {}
    ELEMENTWISE = {}  # whether a name is of a family, and what computes that: `compute(func, name, args, kwargs)`
    SPOKEN = "a tensor made of others"

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        for x in tensors_among(args):
            adopt(x)
        return first_kind(cls, args, kwargs)._compute(func, args, kwargs or {})

    @classmethod
    def _compute(cls, func, args, kwargs):
        """Return what a function of the API comes to."""
        func, args = function_of(func, args)
        name = getattr(func, "__name__", str(func))
        rule = cls.RULES.get(name)
        if rule is not None:
            return rule(*args, **kwargs)
        if is_look(func):
            with DisableTorchFunctionSubclass():
                return func(*args, **kwargs)
        for applies, compute in cls.ELEMENTWISE.items():
            if applies(name):
                return compute(func, name, args, kwargs)
        raise cls._refusal(name, *args, *kwargs.values())

    @classmethod
    def _refusal(cls, name, *arguments):
        """Return what is raised where a function has no rule."""
        return NotImplementedError(f"{name}: got {cls.SPOKEN}, expected strided ones")

    def _told_shape(self):
        return self.shape

    def _aligned(self, given):
        """Return the values of a gradient of this tensor's kind, in the order of the tensor's own."""
        return values_of(given)


def told_shape(x):
    """Return what two tensors must have in common to be gradients of each other: the shape, or those of samples."""
    return x._told_shape() if isinstance(x, TensorOfParts) else x.shape


def tensors_among(arguments):
    """Return the tensors of parts among arguments and in lists of them."""
    flat = (item for argument in arguments for item in (argument if isinstance(argument, (list, tuple))
                                                        else (argument,)))
    return [item for item in flat if isinstance(item, TensorOfParts)]


def adopt(x):
    """Have a tensor that the engine showed anew be of its kind's class."""
    kind = KINDS.get(look(x)[0].split()[0])
    if kind is not None and not isinstance(x, kind):
        x.__class__ = kind
    return x


def first_kind(cls, args, kwargs):
    """Return the class of the first tensor of parts."""
    found = tensors_among((*args, *(kwargs or {}).values()))
    return type(found[0]) if found else cls


def handle(name, arguments, destinations):
    """Compute a call of the engine's in which a tensor of parts takes part.

    Parameters
    ----------
    name : str
        The operator.
    arguments : dict
        Its arguments by the names that the operator has for them.
    destinations : list
        What is to be written into; empty for a new result.

    Returns
    -------
    Union[Tensor, Sequence[Tensor]]
        The results.

    """
    for who in beneath:
        if who.has_wrapper(arguments, destinations):
            return who.compute(name, arguments, destinations)
    found = [adopt(x) for x in tensors_among((*arguments.values(), destinations))]
    kind = type(found[0]) if found else TensorOfParts
    compute = kind.ENGINE_RULES.get(name)
    if compute is None:
        raise kind._refusal(name, *arguments.values())
    result = compute(**arguments)
    if not destinations:
        return result
    return [destination.copy_(result) for destination in destinations]


def rules_into(table):
    """Return a decorator that registers how functions are computed: `rule(*names)`, by its own name without any."""
    def rule(*names):
        def register(compute):
            for name in names or (compute.__name__,):
                table[name] = compute
            return compute
        return register
    return rule


def is_of_parts(x):
    """Return whether an object is a tensor that is made of others."""
    return isinstance(x, TensorOfParts)


def parts_of(x):
    """Return the tensors that one is made of, the values last."""
    return look(x)[1]


def values_of(x):
    """Return the part that holds the numbers, with its history."""
    return look(x)[1][-1]


def exchanged(x, values):
    """Return a tensor of the same form with other values."""
    layout, held, sorted_once = look(x)
    made = parts.make_of_parts(layout, (*held[:-1], values), tuple(_C.Tensor.shape.__get__(x)), sorted_once)
    made.__class__ = type(x)
    made.__dict__.update((name, value) for name, value in x.__dict__.items() if name in FORMS)
    return made


def take_form(x, other):
    """Have a tensor be of another one's form, in place: all parts are that one's but the values, which stay its own.

    The former parts are let go, not written to: what was computed of the tensor has them too.
    """
    made = exchanged(other, values_of(x))
    _C.Tensor.data.__set__(x, made)
    for name in FORMS:
        x.__dict__.pop(name, None)
    x.__dict__.update(made.__dict__)


def gradient(self):
    """The gradient, in the form of the tensor; None where none came."""
    found = values_of(self).grad
    return None if found is None else exchanged(self.detach(), found)


def set_gradient(self, value):
    """Set the gradient, or take it away."""
    if value is not None and not isinstance(value, Tensor):
        raise TypeError(f"grad: got '{type(value).__name__}', expected a tensor or None: assigned grad expected to be "
                        f"a Tensor or None but got grad of type {type(value).__name__}")
    if value is not None and type(value) is not type(self):
        raise RuntimeError(f"grad: got a tensor of layout {value.layout!r} and {value.dtype} for one of "
                           f"{self.layout!r} and {self.dtype}, expected another one of its kind, or None")
    values_of(self).grad = None if value is None else self.detach()._aligned(value)


def set_requires_grad(self, wanted):
    """Ask for gradients, or no longer."""
    values_of(self).requires_grad = wanted


TensorOfParts.requires_grad = property(lambda self: values_of(self).requires_grad, set_requires_grad,
                                       doc="Whether gradients are wanted.")
TensorOfParts.is_leaf = property(lambda self: values_of(self).is_leaf, doc="Whether no recorded call made the values.")
TensorOfParts.grad_fn = property(lambda self: values_of(self).grad_fn, doc="What made the values.")
TensorOfParts.grad = property(gradient, set_gradient, doc="The gradient.")
TensorOfParts.is_view = property(lambda self: False, doc="False: these share no memory with others.")
TensorOfParts._version = property(lambda self: values_of(self)._version, doc="How often the values were written to.")
TensorOfParts.retains_grad = property(lambda self: values_of(self).retains_grad, doc="Whether the gradient is kept.")
TensorOfParts.output_nr = property(lambda self: values_of(self).output_nr, doc="Which result of its step it is.")


def detach(self):
    """Return the tensor without history; all parts are shared."""
    return exchanged(self, values_of(self).detach())


def detach_(self):
    """Cut the tensor off from its history."""
    values_of(self).detach_()
    return self


def register_hook(self, hook):
    """Call `hook(grad)` with the gradient as a tensor of this form."""
    pattern = self.detach()

    def of_values(grad):
        found = hook(exchanged(pattern, grad))
        return None if found is None else pattern._aligned(found)
    return values_of(self).register_hook(of_values)


def _through(name):
    def ask(self, *args, **kwargs):
        found = getattr(values_of(self), name)(*args, **kwargs)
        return self if name.endswith("_") else found
    return named(ask, name, f"Do as `{name}` of the values.")


# What is asked of the values, for every kind.
COMMON = {name: _through(name) for name in (
    "requires_grad_", "retain_grad", "register_post_accumulate_grad_hook", "is_floating_point", "is_complex",
    "is_signed", "get_device", "is_inference", "is_shared", "share_memory_", "is_pinned")}
TensorOfParts.size = _C.Tensor.extent
TensorOfParts.retain_grad = COMMON["retain_grad"]  # the engine's method knows nothing of kinds
COMMON.update(detach=detach, detach_=detach_, register_hook=register_hook)
