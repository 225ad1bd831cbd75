"""`keras.Layer`: what makes tensors of tensors with weights of its own, and may be put together of other layers."""
import contextlib

from dragon.core import warnings
from dragon import _C
from dragon.core import modes
from dragon.core.interrupts import is_interrupt
from dragon.core.scopes import ExitStack
from dragon.vm.keras.core import dtype_policies, global_state, tree
from dragon.vm.keras.core.base_layer import BaseLayer, has_unbuilt
from dragon.vm.keras.core.batch_size import count_samples
from dragon.vm.keras.core.call_errors import explain_call
from dragon.vm.keras.core.call_spec import CallContext, CallSpec, is_tensor_or_symbolic
from dragon.vm.keras.core.convert import convert_to_tensor, is_tensor
from dragon.vm.keras.core.dtypes import is_float_dtype, standardize_dtype
from dragon.vm.keras.core.keras_tensor import KerasTensor, any_symbolic_tensors
from dragon.vm.keras.core.masking import get_keras_mask, set_keras_mask
from dragon.vm.keras.core.node import Node
from dragon.vm.keras.core.operation import Operation, default, is_default
from dragon.vm.keras.core.remat import rematerialize
from dragon.vm.keras.core.scopes import AutocastScope, get_autocast_scope
from dragon.vm.keras.core.stateless import StatelessScope
from dragon.vm.keras.core.shapes import is_shape_tuple
from dragon.vm.keras.core.spec import compute_spec
from dragon.vm.keras.layers.quantizing import quantizing
from dragon.vm.keras.layers.input_spec import assert_input_compatibility
from dragon.vm.shared.tensors.tensor import Base, Tensor, as_tensor, ops

_NOTHING = contextlib.nullcontext()


def foreign_tensor(args, kwargs):
    """Return the first tensor of another face among the arguments, or None."""
    for x in (*args, *kwargs.values()):
        if x.__class__ is Tensor or x is None:
            continue
        for item in tree.flatten(x) if isinstance(x, (list, tuple, dict)) else (x,):
            if isinstance(item, _C.Tensor) and not isinstance(item, Base):
                return item
    return None


class Layer(BaseLayer):
    """What makes tensors of tensors; subclasses write `__init__`, `build` and `call`.

    Parameters
    ----------
    activity_regularizer : Union[Callable, str], optional
        Makes a loss of the outputs.
    trainable : bool, optional, default=True
        Whether optimizers shall change the weights.
    dtype : Union[str, DTypePolicy], optional
        The dtype, or a policy of a compute and a variable dtype; the global policy without it.
    autocast : bool, optional, default=True
        Whether float inputs are cast to the compute dtype.
    name : str, optional
        The name.
    **kwargs : Any
        `input_shape` and others of old.

    Examples
    --------
    >>> class Scale(keras.layers.Layer):
    ...     def build(self, input_shape):
    ...         self.factor = self.add_weight(shape=(), initializer="ones", name="factor")
    ...     def call(self, x):
    ...         return x * self.factor
    >>> layer = Scale()
    >>> np.asarray(layer(np.array([1.0, 2.0], "float32")))
    array([1., 2.], dtype=float32)
    >>> len(layer.weights)
    1

    """

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "quantize" in cls.__dict__:
            cls.quantize = quantizing(cls.__dict__["quantize"])

    def call(self, *args, **kwargs):
        """Apply the layer; subclasses say how."""
        raise self._not_implemented_error(self.call)

    def symbolic_call(self, *args, **kwargs):
        """Return the symbolic outputs; the node is made by the call around it."""
        return self.compute_output_spec(*args, **kwargs)

    def __call__(self, *args, **kwargs):
        if len(args) == 1 and args[0].__class__ is Tensor and (
                not kwargs or len(kwargs) == 1 and "training" in kwargs):
            fields = self.__dict__
            if fields.get("built") and fields["_is_plain"] and get_keras_mask(args[0]) is None:
                return self._call_plainly(args[0], **kwargs)
        self._check_super_called()
        self.__dict__["_called"] = True
        foreign = foreign_tensor(args, kwargs)
        return self._call_fully(args, kwargs) if foreign is None else self._call_from_outside(foreign, args, kwargs)

    def _call_from_outside(self, foreign, args, kwargs):
        """Do a call with a tensor of another face as its users expect: recorded, if they expect that unasked."""
        with ExitStack() as exits:
            exits.switch(modes.set_recording, modes.is_recording())
            outputs = self._call_fully(args, kwargs)
        face, is_first = type(foreign), args and args[0] is foreign

        def shown(x):
            if not isinstance(x, _C.Tensor) or not is_first and x.is_leaf and x.requires_grad:
                return x  # a weight stays what it is
            made = _C.as_class(x, face)
            return made if is_first else as_tensor(made)  # which knows from now on whose it was
        return tree.map_structure(shown, outputs)

    def _call_fully(self, args, kwargs):
        given = args, kwargs
        if self._convert_input_args and self._needs_conversion(args, kwargs):
            args = tree.map_structure(self._convert_input, args)
            kwargs = tree.map_structure(self._convert_input, kwargs)
        if not self._allow_non_tensor_positional_args:
            for x in tree.flatten(args):
                if not is_tensor_or_symbolic(x, allow_none=True):
                    raise ValueError("Only input tensors may be passed as positional arguments. The following argument "
                                     f"value should be passed as a keyword argument: {x} (of type {type(x)})")
        spec = CallSpec(self._call_signature, self._call_context_args, args, kwargs)
        self._assert_input_compatibility(spec.first)
        if not self.built:
            with self._open_name_scope():
                self._maybe_build(spec)
        context = global_state.get_global_attribute("current_call_ctx")
        with ExitStack() as exits:
            if context is None:
                context = self._enter_first(exits)
            for name in self._call_context_args:
                self._inherit(name, spec, context, kwargs)
            previous_mask = self._fill_masks(spec, kwargs)
            with self._open_name_scope():
                with self._autocast_scope():
                    outputs = self._compute(args, kwargs)
                self.__dict__["built"] = True
                if self.activity_regularizer is not None:
                    self._regularize_activity(outputs)
            self._pass_on_masks(spec.first, outputs, previous_mask)
        if any_symbolic_tensors(*given):
            Node(operation=self, call_args=given[0], call_kwargs=given[1], outputs=outputs)
        return outputs

    def _call_plainly(self, x, training=_NOTHING):
        """Do what a call does that has a single tensor without a mask, and perhaps `training`: the short way."""
        policy = self._own_policy()
        own = x.dtype.name
        if own != policy.compute_dtype and self._convert_input_args and self.autocast and is_float_dtype(own):
            x = convert_to_tensor(x, dtype=self.input_dtype)
        self._assert_input_compatibility(x)
        context = global_state.get_global_attribute("current_call_ctx")
        with ExitStack() as exits:
            if context is None:
                context = self._enter_first(exits)
            if training is _NOTHING:
                training = context.get_value("training")
                if training is None:
                    training = self.__dict__.get("training", self._default_training)
            context.training = training
            kwargs = {"training": training} if training is not None and self._call_has_training_arg else {}
            with self._open_name_scope() if self._layers else _NOTHING, self._autocast_scope():
                with explain_call(self, (x,), kwargs):
                    return self.call(x, **kwargs)

    def _enter_first(self, exits):
        """Return the context of a call that is in no other one, until an ExitStack ends."""
        context = CallContext(entry_layer=self)
        global_state.set_within(exits, "current_call_ctx", context)
        self._clear_losses()
        return context

    # --- the steps of a call

    def _needs_conversion(self, args, kwargs):
        if kwargs or len(args) != 1 or not is_tensor_or_symbolic(args[0]):
            return True
        return standardize_dtype(args[0].dtype) != self.input_dtype

    def _convert_input(self, x):
        mask = get_keras_mask(x)
        made = self._dtype_policy.convert_input(x, self.autocast, self.input_dtype)
        if mask is not None and made is not x:
            set_keras_mask(made, mask)
        return made

    def _assert_input_compatibility(self, x):
        if self.input_spec:
            assert_input_compatibility(self.input_spec, x, layer_name=self.name)

    def _inherit(self, name, spec, context, kwargs):
        """Take an argument from the caller, from an outer layer's call, or from the signature; tell inner layers."""
        if name in spec.user_arguments:
            value = spec.user_arguments[name]
        else:
            value = context.get_value(name)
            if value is None and name == "training":
                value = self.__dict__.get("training")  # what `train()` and `eval()` have set
            if value is None:
                value = spec.arguments.get(name)
        context.set_value(name, value)
        if value is not None and self._call_has_context_arg.get(name):
            kwargs[name] = value

    def _fill_masks(self, spec, kwargs):
        """Hand masks to the arguments that take them; returns the mask of the first argument."""
        if len(spec.tensors) == 1:
            if "mask" in spec.arguments and spec.arguments["mask"] is None:
                kwargs["mask"] = tree.map_structure(get_keras_mask, next(iter(spec.tensors.values())))
        else:
            for name, x in spec.tensors.items():
                if spec.arguments.get(f"{name}_mask", False) is None:
                    kwargs[f"{name}_mask"] = tree.map_structure(get_keras_mask, x)
        if kwargs.get("mask") is not None:
            return kwargs["mask"]
        return tree.map_structure(get_keras_mask, spec.first)

    def _pass_on_masks(self, first, outputs, previous_mask):
        if self.supports_masking:
            self._set_mask_metadata(first, outputs, previous_mask)
        elif any(mask is not None for mask in tree.flatten(previous_mask)):
            warnings.warn(f"Layer '{self.name}' (of type {type(self).__name__}) was passed an input with a mask "
                          "attached to it. However, this layer does not support masking and will therefore destroy "
                          "the mask information. Downstream layers will not see the mask.")

    def _autocast_scope(self):
        """Return the scope in which variables are read: a new one if the open one does not fit."""
        scope, policy = get_autocast_scope(), self._own_policy()
        if scope is None:
            mixed = policy.compute_dtype != policy.variable_dtype
            return AutocastScope(policy.compute_dtype) if mixed else _NOTHING
        if not self.autocast or not is_float_dtype(policy.compute_dtype):
            return AutocastScope(None)
        return _NOTHING if scope.dtype == policy.compute_dtype else AutocastScope(policy.compute_dtype)

    def _compute(self, args, kwargs):
        if any_symbolic_tensors(args, kwargs):
            with explain_call(self, args, kwargs):
                return self.symbolic_call(*args, **kwargs)
        call = self.call if self.quantization_mode is None else self.quantized_call
        if self._remat_mode is not None:
            call = rematerialize(self, call, args, kwargs)
        with explain_call(self, args, kwargs):
            return call(*args, **kwargs)

    def _regularize_activity(self, outputs):
        for output in tree.flatten(outputs):
            if is_tensor(output):
                loss = self.activity_regularizer(output)
                if output.ndim > 0:  # the same strength for batches of all sizes
                    size = count_samples(output)
                    loss = ops.div(loss, float(max(size, 1)) if isinstance(size, int) else size)
                self.add_loss(loss)

    def _maybe_build(self, spec):
        """Build the layer with the shapes of its inputs; without a `build`, by a call that has no numbers."""
        shapes = spec.shapes()
        first = next(iter(shapes.values()), None)
        if not is_default(self.build):
            self.build(**spec.shapes_for(self.build, type(self).__name__))
            self._assert_input_compatibility(spec.first)
            return
        if has_unbuilt(self):
            try:
                compute_spec(self.call, (), spec.arguments)
            except Exception as error:
                if is_interrupt(error):
                    raise
                if spec.eager:  # the call itself will build what is left
                    return
                warnings.warn(f"Layer '{self.name}' looks like it has unbuilt state, but Keras is not able to trace "
                              "the layer `call()` in order to build it automatically. Possible causes:\n1. The "
                              "`call()` method of your layer may be crashing. Try to `__call__()` the layer eagerly "
                              "on some test input first to see if it works.\n2. If the `call()` method is correct, "
                              "then you may need to implement the `def build(self, input_shape)` method on your "
                              f"layer.\nException encountered: ''{error}''")
        self.build(first)

    def _build_by_run_for_single_pos_arg(self, input_shape):
        try:
            compute_spec(self.call, (tree.map_shape_structure(KerasTensor, input_shape),))
            return True
        except Exception as error:  # whatever goes wrong, the model stays unbuilt
            if is_interrupt(error):
                raise
            return False

    def _build_by_run_for_kwargs(self, shapes):
        if not all(is_shape_tuple(shape) for shape in shapes.values()):
            return False
        try:
            compute_spec(self.call, (), {name.removesuffix("_shape"): KerasTensor(shape)
                                         for name, shape in shapes.items()})
            return True
        except Exception as error:  # whatever goes wrong, the model stays unbuilt
            if is_interrupt(error):
                raise
            return False

    # --- shapes of outputs

    def compute_output_spec(self, *args, **kwargs):
        """Return the symbolic outputs of a call."""
        if is_default(self.compute_output_shape):
            return super().compute_output_spec(*args, **kwargs)
        spec = CallSpec(self._call_signature, self._call_context_args, args, kwargs)
        shape = self.compute_output_shape(**spec.shapes_for(self.compute_output_shape, type(self).__name__))
        if not isinstance(shape, (list, tuple, dict)):
            try:
                shape = tuple(shape)
            except TypeError:
                raise ValueError(f"Method `compute_output_shape()` of layer {type(self).__name__} is returning a type "
                                 "that cannot be interpreted as a shape. It should return a shape tuple. "
                                 f"Received: {shape}") from None
        return tree.map_shape_structure(lambda own: KerasTensor(own, dtype=self.compute_dtype), shape)

    @default
    def compute_output_shape(self, *args, **kwargs):
        """Return the shape of the result for shapes of the inputs; subclasses may say how."""
        raise self._not_implemented_error(
            self.compute_output_shape, "Should implement `def compute_output_shape(self, input_shape)`.")

    # --- without state

    def stateless_call(self, trainable_variables, non_trainable_variables, *args, return_losses=False, **kwargs):
        """Call the layer with values in its variables' places, and change none of them.

        Parameters
        ----------
        trainable_variables : Sequence[Tensor]
            Values of `trainable_variables`.
        non_trainable_variables : Sequence[Tensor]
            Values of `non_trainable_variables`.
        *args : Any
            The arguments of the call.
        return_losses : bool, optional, default=False
            Whether losses are returned too.
        **kwargs : Any
            The named arguments of the call.

        Returns
        -------
        tuple
            The outputs, the new values of non-trainable variables, and the losses if they are wanted.

        """
        self._check_super_called()
        if not self.built:
            raise ValueError(f"To call stateless_call, {type(self).__name__} must be built (i.e. its variables must "
                             "have been already created). You can build it by calling it on some data.")
        mapping = []
        for name, values in (("trainable_variables", trainable_variables),
                             ("non_trainable_variables", non_trainable_variables)):
            own = getattr(self, name)
            if len(values) != len(own):
                raise ValueError(f"Argument `{name}` must be a list of tensors corresponding 1:1 to "
                                 f"{type(self).__name__}().{name}. Received list with length {len(values)}, but "
                                 f"expected {len(own)} variables.")
            mapping += zip(own, values)
        with StatelessScope(state_mapping=mapping, collect_losses=return_losses) as scope:
            outputs = Operation.__call__(self, *args, **kwargs)
            losses = self.losses if return_losses else None
        updated = [scope.get_current_value(variable) for variable in self.non_trainable_variables]
        return (outputs, updated, losses) if return_losses else (outputs, updated)

    # --- quantization

    @quantizing
    def quantize(self, mode=None, type_check=True, config=None):
        """Refuse: the layer cannot keep its weights as small integers."""
        raise self._not_implemented_error(self.quantize)

    def quantized_build(self, input_shape, mode):
        """Refuse: the layer cannot keep its weights as small integers."""
        raise self._not_implemented_error(self.quantized_build)

    def quantized_call(self, *args, **kwargs):
        """Call the way that the quantization mode asks for."""
        method = getattr(self, f"_{self.quantization_mode}_call", None)
        if method is None:
            raise NotImplementedError("Invalid quantization mode. Expected one of "
                                      f"{dtype_policies.QUANTIZATION_MODES}. "
                                      f"Received: quantization_mode={self.quantization_mode}")
        return method(*args, **kwargs)

    def _not_implemented_error(self, attribute, message=None):
        kind, name = ("method", attribute.__name__) if callable(attribute) else ("attribute", str(attribute))
        message = f" {message}" if message else ""
        return NotImplementedError(f"Layer {type(self).__name__} does not have a `{name}` {kind} implemented.{message}")

    def _register_call_context_args(self, *names):
        """Have calls of inner layers inherit arguments of these names."""
        if self._called:
            raise RuntimeError("Cannot add call-context args after the layer has been called. "
                               f"Received: {names}")
        fields = self.__dict__
        fields["_call_context_args"] = self._call_context_args | set(names)
        self._note_plain()
        self._call_has_context_arg.update({name: name in self.call_signature_parameters for name in names})
