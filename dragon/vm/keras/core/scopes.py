"""Names that are open, the dtype that variables are read in, and what else holds within a block."""
from dragon.core import modes
from dragon.core.scopes import Scope
from dragon.vm.keras.core import global_state
from dragon.vm.keras.core.dtypes import is_float_dtype, standardize_dtype

get = global_state.get_global_attribute


class name_scope(Scope):
    """Put a name before the paths of variables that are made within.

    Parameters
    ----------
    name : str
        The name, without slashes.
    caller : Any, optional
        Who opens the scope; the same caller opens it once.
    deduplicate : bool, optional, default=True
        Whether a scope that its caller has open already is not opened again.
    override_parent : str, optional
        A path that stands for all scopes further out.

    """

    def __init__(self, name, caller=None, deduplicate=True, override_parent=None):
        if not isinstance(name, str) or "/" in name:
            raise ValueError("Argument `name` must be a string and cannot contain character `/`. "
                             f"Received: name={name}")
        if override_parent is None and deduplicate:
            override_parent = getattr(caller, "_parent_path", None)
        self.name, self.caller, self.deduplicate, self.override_parent = name, caller, deduplicate, override_parent

    def _enter_scope(self, exits):
        """Open the name."""
        stack = get("name_scope_stack")
        if stack is None:
            stack = []
            global_state.set_global_attribute("name_scope_stack", stack)
        if self.deduplicate and stack and self.caller is not None:
            if self.caller is stack[-1].caller and self.name == stack[-1].name:
                return self
        exits.push(stack, self)
        return self


def current_path():
    """Return the names that are open, joined by slashes."""
    parts = []
    for scope in get("name_scope_stack") or ():
        if scope.override_parent is not None:
            parts = [part for part in scope.override_parent.split("/") if part]
        parts.append(scope.name)
    return "/".join(parts)


class AutocastScope(Scope):
    """Have float variables read in a dtype; None for their own."""

    def __init__(self, dtype):
        if dtype is not None:
            dtype = standardize_dtype(dtype)
            if not is_float_dtype(dtype):
                raise ValueError("`AutocastScope` can only be used with a floating-point target dtype, such as "
                                 f"'float16'. Received: dtype={dtype}")
        self.dtype = dtype

    def maybe_cast(self, value):
        """Return a float tensor in the dtype of the scope, any other as it is."""
        if self.dtype is None or not is_float_dtype(value.dtype) or standardize_dtype(value.dtype) == self.dtype:
            return value
        from dragon.vm.shared.tensors.tensor import ops
        return ops.cast(value, self.dtype)

    def _enter_scope(self, exits):
        """Cast from now on."""
        global_state.set_within(exits, "autocast_scope", self)


def get_autocast_scope():
    """Return the scope in which float variables are cast, or None."""
    return get("autocast_scope")


def get_stateless_scope():
    """Return the innermost StatelessScope, or None."""
    return get("stateless_scope")


def in_stateless_scope():
    """Tell whether variables are read from and written to a StatelessScope."""
    return get("stateless_scope") is not None


class SymbolicScope(Scope):
    """Mark that functions run to learn shapes, not numbers."""

    def _enter_scope(self, exits):
        """Learn shapes from now on."""
        global_state.set_within(exits, "symbolic_scope", self)
        return self


def get_symbolic_scope():
    """Return the innermost SymbolicScope, or None."""
    return get("symbolic_scope")


def in_symbolic_scope():
    """Tell whether functions run to learn shapes only."""
    return get("symbolic_scope") is not None


class Concrete(Scope):
    """Make real numbers within a run that only learns shapes: the initial values of variables."""

    def _enter_scope(self, exits):
        """Make numbers from now on."""
        for name in ("stateless_scope", "symbolic_scope", "autocast_scope"):
            global_state.set_within(exits, name, None)
        exits.switch(modes.set_phantom, False)
