"""`torch.library`: operators that scripts write in Python, called as `torch.ops.<namespace>.<name>`."""
from dragon.vm.torch._ops import packet_of
from dragon.vm.torch.amp.autocast_mode import autocast, is_autocast_available, is_autocast_enabled
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.exporting.tracing_state import current_tracer
from dragon.vm.torch.core.operators import REGISTERED, define as _define, get as _get, infer_schema
from dragon.vm.torch.core.tensor import Tensor

# PyTorch's dispatch keys and device types, and the kinds of functions that they stand for here.
KINDS = {"cpu": "cpu", "cuda": "cuda", "meta": "meta", "default": "any", "": "any", "none": "any",
         "compositeexplicitautograd": "any", "compositeimplicitautograd": "composite", "autograd": "autograd",
         "autogradcpu": "autograd", "autogradcuda": "autograd", "backendselect": "any"}


def _kind(key):
    if key.lower() not in KINDS:
        known = ", ".join(filter(None, KINDS))
        raise NotImplementedError(f"library: got dispatch key {key!r}, expected one of {known}")
    return KINDS[key.lower()]


def _kinds(device_types):
    if device_types is None:
        return ["any"]
    return [_kind(each) for each in ([device_types] if isinstance(device_types, str) else device_types)]


class CustomOpDef:
    """An operator made by `custom_op`; call it, or `torch.ops.<namespace>.<name>`.

    Parameters
    ----------
    operator : Operator
        What is registered.
    function : Callable
        What it was made of.

    """

    def __init__(self, operator, function):
        self._operator, self._init_fn = operator, function
        self._qualname = operator.name
        self.__name__ = operator.__name__

    def __call__(self, *args, **kwargs):
        if current_tracer() is not None:  # an exported program calls it by its name
            return current_tracer().called(packet_of(self._qualname), args, kwargs)
        return self._operator(*args, **kwargs)

    def __repr__(self):
        return f"<CustomOpDef({self._qualname})>"

    def register_kernel(self, device_types, fn=None, /):
        """Add the function for some kinds of device; a decorator without one."""
        return register_kernel(self._operator, device_types, fn)

    def register_fake(self, fn, /):
        """Add the function for tensors without memory."""
        return register_fake(self._operator, fn)

    def register_autocast(self, device_type, cast_inputs):
        """Have numbers cast where autocast is on."""
        register_autocast(self._operator, device_type, cast_inputs)

    def register_autograd(self, backward, /, *, setup_context=None):
        """Add the gradient."""
        register_autograd(self._operator, backward, setup_context=setup_context)


def custom_op(name, fn=None, /, *, mutates_args, device_types=None, schema=None, tags=None):
    """Make an operator of a function; a decorator without one.

    Parameters
    ----------
    name : str
        "namespace::name".
    fn : Callable, optional
        A function of tensors and plain values, with type annotations.
    mutates_args : Union[str, Iterable[str]]
        The arguments that it writes to.
    device_types : Union[str, Sequence[str]], optional
        The devices that it is for, all by default.
    schema : str, optional
        The line that tells its arguments, read from the annotations by default.

    Returns
    -------
    CustomOpDef
        The operator.

    """
    def make(function):
        operator = _define(name, name + (schema or infer_schema(function, mutates_args=mutates_args)))
        operator.kernels.update(dict.fromkeys(_kinds(device_types), function))
        return CustomOpDef(operator, function)
    return make if fn is None else make(fn)


def define(qualname, schema, *, lib=None, tags=()):
    """Register an operator by name and schema; functions follow by `impl`."""
    _define(qualname, qualname + schema)


def _implement(operator, kinds, function):
    operator.kernels.update(dict.fromkeys(kinds, function))
    operator.signature = None
    return function


def impl(qualname, types, func=None, *, lib=None):
    """Add an operator's function for some device types; a decorator without one."""
    if isinstance(qualname, Library):  # impl(lib, name, dispatch_key), the old form
        library, name, key = qualname, types, func or ""

        def register_in(function):
            library.impl(name, function, key)
            return function
        return register_in
    operator = _get(qualname)

    def register(function):
        return _implement(operator, _kinds(types), function)
    return register if func is None else register(func)


def register_kernel(op, device_types, func=None, /, *, lib=None):
    """Add an operator's function for some kinds of device; a decorator without one."""
    operator = _get(op)

    def register(function):
        return _implement(operator, _kinds(device_types), function)
    return register if func is None else register(func)


def register_fake(op, func=None, /, *, lib=None, _stacklevel=1, allow_override=False):
    """Add an operator's function for tensors without memory; a decorator without one."""
    return register_kernel(op, "meta", func)


def impl_abstract(qualname, func=None, *, lib=None, _stacklevel=1):
    """Add an operator's function for tensors without memory: the former name of `register_fake`."""
    return register_fake(qualname, func, lib=lib)


def register_autograd(op, backward, /, *, setup_context=None, lib=None):
    """Add an operator's gradient: `backward(ctx, *grads)`, and what fills the context after the forward."""
    operator = _get(op)
    operator.backward, operator.setup_context, operator._function = backward, setup_context, None


def register_autocast(op, device_type, cast_inputs, /, *, lib=None):
    """Have an operator's numbers cast where autocast is on for a type of device; it runs without autocast then.

    Parameters
    ----------
    op : Union[str, CustomOpDef]
        The operator.
    device_type : str
        "cpu" or "cuda".
    cast_inputs : dtype
        What floating-point tensors on such devices are cast to; those of double precision stay.

    """
    if not is_autocast_available(device_type):
        raise ValueError(f"register_autocast: got {device_type!r}, expected 'cpu' or 'cuda': Device type "
                         f"'{device_type}' does not support autocast.")

    def cast(value):
        if isinstance(value, (list, tuple)):
            return type(value)(map(cast, value))
        wanted = isinstance(value, Tensor) and value.dtype.is_floating_point and value.device.type == device_type
        return value.to(cast_inputs) if wanted and value.dtype != OBJECTS["float64"] else value

    def answer(operator, args, kwargs):
        if not is_autocast_enabled(device_type):
            return NotImplemented
        with autocast(device_type, enabled=False):
            return operator(*map(cast, args), **{name: cast(value) for name, value in kwargs.items()})
    _get(op).before[device_type] = answer


def triton_op(name, fn=None, /, *, mutates_args, schema=None):
    """Make an operator of a function whose own kernels may be Triton's; a decorator without one.

    Parameters
    ----------
    name : str
        "namespace::name".
    fn : Callable, optional
        A function of tensors and plain values, with type annotations. It stands for tensors without memory too.
    mutates_args : Union[str, Iterable[str]]
        The arguments that it writes to.
    schema : str, optional
        The line that tells its arguments, read from the annotations by default.

    Returns
    -------
    CustomOpDef
        The operator.

    """
    def make(function):
        made = custom_op(name, function, mutates_args=mutates_args, schema=schema)
        made.register_fake(function)
        return made
    return make if fn is None else make(fn)


class Library:
    """A handle to define and implement operators of one namespace.

    Parameters
    ----------
    ns : str
        The namespace.
    kind : str
        "DEF" for a new one, "FRAGMENT" or "IMPL" for more of one.
    dispatch_key : str, optional, default=""
        What functions are for unless `impl` says otherwise.

    """

    def __init__(self, ns, kind, dispatch_key=""):
        if kind not in ("DEF", "FRAGMENT", "IMPL"):
            raise ValueError(f"Library: got kind {kind!r}, expected 'DEF', 'FRAGMENT' or 'IMPL'")
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key
        self._names = []

    def define(self, schema, alias_analysis="", *, tags=()):
        """Register an operator by its schema, "name(Tensor x) -> Tensor"; return its name."""
        name = schema.partition("(")[0].strip()
        operator = _define(f"{self.ns}::{name}", f"{self.ns}::{schema}")
        self._names.append(operator.name)
        return name

    def impl(self, op_name, fn, dispatch_key="", *, with_keyset=False, allow_override=False):
        """Add an operator's function for a dispatch key."""
        if with_keyset:
            raise NotImplementedError("Library.impl: got with_keyset=True, expected False: there are no keys to pass")
        if self.ns in ("aten", "prims"):
            raise NotImplementedError(f"Library.impl: got namespace {self.ns!r}, expected one of the script's own: "
                                      "Dragon's own operators cannot be replaced")
        name = getattr(op_name, "__name__", op_name).partition(".")[0].rpartition("::")[2]
        operator, kind = _get(f"{self.ns}::{name}"), _kind(dispatch_key or self.dispatch_key)
        if fn is fallthrough_kernel:
            operator.kernels.pop(kind, None)
        else:
            _implement(operator, [kind], fn)

    def _destroy(self):
        for name in self._names:
            REGISTERED.pop(name, None)


def fallthrough_kernel():
    """Stand for "ask the next dispatch key", where `Library.impl` is given it."""
    raise NotImplementedError("fallthrough_kernel() should never be called.")


def get_kernel(op, dispatch_key):
    """Return an operator's function for a dispatch key."""
    operator = _get(op)
    found = operator.kernels.get(_kind(dispatch_key))
    if found is None:
        raise RuntimeError(f"get_kernel: {operator.name} has no function for {dispatch_key!r}")
    return found
