"""The dispatcher of `__torch_dispatch__`: calls of the API become operators, which modes and wrappers answer."""
from dragon.core import modes as switches
from dragon.core.scopes import ExitStack
from dragon.vm.torch.core import overrides
from dragon.vm.torch.core.dispatching import wrapper_subclass, wrapper_attributes
from dragon.vm.torch.core.dispatching.engine_calls import handle
from dragon.vm.torch.core.dispatching.dispatch_rules import OWN
from dragon.vm.torch.core.dispatching.autograd import recorded
from dragon.vm.torch.core.dispatching.mode_stack import (
    asking_nobody, beneath_gradients, dispatch_modes, is_silent, is_wanted, leaves, who_answers)
from dragon.vm.torch.core.exporting.decompositions import composite_table
from dragon.vm.torch.core.exporting import api_to_aten_rest, subscripts  # noqa: F401: which add rules
from dragon.vm.torch.core.exporting.tracing_state import set_tracer
from dragon.vm.torch.core.exporting.tracer import aten
from dragon.vm.torch.core.exporting.overload_resolution import NoOverload, arguments_of, resolve
from dragon.vm.torch.core.exporting.schemas import overloads
from dragon.vm.torch.core.exporting.api_to_aten import RULES
from dragon.vm.torch.core.python_operators import function_of


# Functions of the API that tell how a tensor lies: nobody answers for them.
SHOWN = frozenset("""dim ndimension size stride is_floating_point is_complex is_contiguous element_size storage_offset
    is_same_size get_device is_signed is_inference is_conj is_neg nelement numel __len__ is_tensor broadcast_shapes
    result_type promote_types can_cast finfo iinfo is_autocast_enabled is_grad_enabled is_pinned is_shared
    is_set_to type_of""".split())


# What methods ask the classes of wrappers with a policy.
_STRIDES = {"stride": "stride", "is_contiguous": "is_contiguous"}
ASKED = {"strides": _STRIDES, "sizes": {**_STRIDES, "size": "size", "dim": "dim", "numel": "numel"}}


# What the overloads are called that write into tensors.
OUT_FORMS = {"default": "out", "Tensor": "out", "self": "self_out", "dim_IntList": "IntList_out", "dim": "out",
             "Tensor_Scalar": "Tensor_Scalar_out", "other": "out"}


# Their functions have names of operators, and are made of these.
WHOLE_MODULES = ("torch.nn.init", "dragon.vm.torch.nn.init")


class Dispatcher:
    """Says calls of the API in PyTorch's operators, as exported programs have them, and calls these."""

    records, flow, nodes = True, None, {}  # what the rules of exported programs ask of a tracer

    # --- what the engine's question comes to

    is_wanted, revive = staticmethod(is_wanted), staticmethod(wrapper_subclass.revive_all)

    @staticmethod
    def count():
        """Return how many modes hear this thread's calls."""
        return 0 if is_silent() else len(dispatch_modes())

    @staticmethod
    def has_wrapper(*trees):
        """Return whether a wrapper takes part in a call of the engine's."""
        return any(map(wrapper_subclass.is_wrapper, leaves(*trees)))

    def compute(self, name, arguments, destinations):
        """Compute a call of the engine's."""
        return handle(self, name, arguments, destinations)

    def call(self, func, args, kwargs):
        """Answer a call of the API.

        Parameters
        ----------
        func : Callable
            The function.
        args : tuple
            Its positional arguments.
        kwargs : Dict[str, Any]
            Its arguments by name.

        Returns
        -------
        Any
            What the operators give.

        """
        func, args = function_of(func, args)
        name = func.__name__
        if name in SHOWN:
            return self.shown(func, name, args, kwargs)
        if getattr(func, "__module__", None) in WHOLE_MODULES:
            return self.within(func, args, kwargs)
        rule = OWN.get(name) or RULES.get(name)
        with ExitStack() as exits:
            exits.switch(set_tracer, self)
            if rule is not None:
                return rule(self, func, args, kwargs)
            return self.default(func, name, args, kwargs)

    def shown(self, func, name, args, kwargs):
        """Tell how a tensor lies: nobody is asked, but the class of a wrapper that wants to be."""
        policy = wrapper_subclass.policy_of(args[0]) if args else None
        if name in ASKED.get(policy, ()):
            return self.called(getattr(aten(), ASKED[policy][name]).default, args, kwargs)
        return wrapper_subclass.bare(func, args, kwargs)

    # --- what rules ask

    def default(self, func, name, args, kwargs):
        """Call the operator of a function's name; of a function without one, what it calls in turn."""
        if not overloads(name):
            return self.within(func, args, kwargs)
        out, given = kwargs.get("out"), {key: value for key, value in kwargs.items() if key != "out"}
        try:
            overload, positional, named = resolve(name, args, given)
        except NoOverload:
            return self.within(func, args, kwargs)
        if out is not None:
            return self.into(getattr(aten(), name), overload, positional, named, out)
        return self.called(getattr(getattr(aten(), name), overload), positional, named)

    def into(self, packet, overload, args, kwargs, out):
        """Call the form of an operator that writes its results into tensors."""
        target = getattr(packet, OUT_FORMS.get(overload, f"{overload}_out"))
        names = [argument.name for argument in packet.default._schema.returns] if isinstance(out, tuple) else ["out"]
        names = [name or f"out{place}" for place, name in enumerate(names)]
        given = dict(zip(names, out if isinstance(out, tuple) else [out]))
        found = recorded(self, target, tuple(args), {**kwargs, **given})
        return found if isinstance(out, tuple) else out

    def called(self, target, args, kwargs):
        """Answer a call of an operator by its name: of one that is made of others, these are called."""
        packet = getattr(target, "overloadpacket", target)
        overload = getattr(target, "_overloadname", None)
        if packet._namespace == "aten" and overloads(packet.__name__):
            if overload is None:
                overload, args, kwargs = resolve(packet.__name__, args, kwargs)
            elif overload in overloads(packet.__name__):
                args, kwargs = arguments_of(overloads(packet.__name__)[overload], args, kwargs)
        target = getattr(packet, overload or "default")
        made_of = composite_table().get(target)
        with ExitStack() as exits:
            exits.switch(set_tracer, self)
            found = NotImplemented if made_of is None else made_of(*args, **kwargs)
        return recorded(self, target, tuple(args), dict(kwargs)) if found is NotImplemented else found

    def emit(self, target, args, kwargs, value, name=None):
        """Call an operator; what an exported program only notes is nothing here."""
        return None if name == "_assert_tensor_metadata_default" else self.called(target, args, kwargs)

    def quietly(self, func, args, kwargs):
        """Call a function without asking anybody: of wrappers it learns how they lie."""
        if any(map(wrapper_subclass.is_wrapper, overrides.flat(args, kwargs))):
            return wrapper_subclass.bare(func, args, kwargs)
        return plainly(func, args, kwargs)

    constant = lifted = quietly

    def within(self, func, args, kwargs):
        """Call a function and answer the calls that it makes."""
        with ExitStack() as exits:
            exits.switch(set_tracer, None)
            inner = getattr(func, "__wrapped__", None)
            found = plainly(func, args, kwargs) if inner is None else inner(*args, **kwargs)
            return wrapper_subclass.revive_all(found)  # what has gone through the engine shows as parts

    def checked(self, holds):
        """Do nothing: what a program checks by itself holds, or it says so."""

    # --- who answers

    def answered(self, target, args, kwargs):
        """Have modes and classes answer for an operator, beneath whatever records gradients.

        Parameters
        ----------
        target : OpOverload
            The operator.
        args : tuple
            Its positional arguments.
        kwargs : Dict[str, Any]
            Its arguments by name.

        Returns
        -------
        Any
            What the first of them gives that does not decline; that of the operator itself where nobody is there.

        """
        with ExitStack() as exits:
            exits.switch(set_tracer, None)
            with beneath_gradients():
                return self._asked(target, args, kwargs)

    def _asked(self, target, args, kwargs):
        found = who_answers(args, kwargs)
        types = tuple(type(argument) for argument in found)
        stack, names = dispatch_modes(), []
        if stack:
            mode = stack.pop()
            overrides.count_modes()
            try:
                result = mode.__torch_dispatch__(target, types, args, kwargs)
            finally:
                stack.append(mode)
                overrides.count_modes()
            if result is not NotImplemented:
                return result
            names.append(f"mode object {mode!r}")
        for argument in found:
            result = type(argument).__torch_dispatch__(target, types, args, kwargs)
            if result is not NotImplemented:
                return result
            names.append(f"tensor subclass {type(argument)!r}")
        if not names:
            return plainly(target.run, args, kwargs)
        raise TypeError(f"Multiple dispatch failed for '{target}'; all __torch_dispatch__ handlers returned "
                        "NotImplemented:\n\n  - " + "\n  - ".join(names))


def plainly(func, args, kwargs):
    """Call a function and ask nobody about what it calls."""
    with ExitStack() as exits:
        exits.switch(switches.set_override_disabled, True)
        with asking_nobody():
            return func(*args, **kwargs)


dispatcher = Dispatcher()


def begin():
    """Have classes and modes be asked for operators from now on."""
    if not overrides.beneath:
        overrides.beneath.append(dispatcher)
        wrapper_attributes.install()
