"""The part of a layer that is there before it is called: arguments, dtypes, attributes, weights, building."""
import functools
import inspect
import sys

from dragon.core import warnings
from dragon.vm.keras.core import dtype_policies, tree
from dragon.vm.keras.core.above import above
from dragon.vm.keras.core.call_spec import is_tensor_or_symbolic
from dragon.vm.keras.core.dtype_policies import DTypePolicyMap
from dragon.vm.keras.core.dtypes import standardize_dtype
from dragon.vm.keras.core.layer_state import LayerState, Module
from dragon.vm.keras.core.masking import get_keras_mask, set_keras_mask
from dragon.vm.keras.core.operation import Operation, default, is_default
from dragon.vm.keras.core.scopes import current_path, name_scope
from dragon.vm.keras.core.tracking import Tracker
from dragon.vm.keras.core.variable import Variable
from dragon.vm.shared.letters import BLUNDERS, letter
from dragon.vm.shared.tensors.variable import settle

# What an attribute may be without belonging to the layer in any way: the quick way out.
_UNTRACKED = frozenset({int, float, str, bool, type(None)})
# Attributes that decide whether a call may go the short way.
_DECIDING = frozenset({"activity_regularizer", "call", "compute_mask", "_remat_mode"})


def _build_of(build):
    """Return a `build` that opens the layer's name scope, remembers its shapes, and marks the layer as built."""
    if getattr(build, "_is_wrapped", False):
        return build
    signature = inspect.signature(build)

    @functools.wraps(build)
    def wrapper(self, *args, **kwargs):
        if self.__dict__.get("_is_building"):  # a subclass calls its base's
            return build(self, *args, **kwargs)
        self.__dict__["_is_building"] = True
        try:
            with self._open_name_scope():
                self.__dict__["_path"] = current_path()
                build(self, *args, **kwargs)
        except BLUNDERS as error:
            raise letter(f"{type(self).__name__}.build", args, kwargs, error)
        finally:
            self.__dict__.pop("_is_building", None)
        arguments = dict(signature.bind(self, *args, **kwargs).arguments)
        arguments.pop(next(iter(signature.parameters)))
        self.__dict__["_build_shapes_dict"] = arguments
        self.built = True
        self._post_build()
        self._lock_state()
        settle()
    wrapper._is_wrapped = True
    return wrapper


def _is_a(x, module, name):
    """Tell whether a value is of a class of a module; before the module is imported, nothing is."""
    module = sys.modules.get(f"dragon.vm.keras.{module}")
    return module is not None and isinstance(x, getattr(module, name))


def _is_trainable(x):
    return isinstance(x, Variable) and x.trainable


def _is_variable(x):
    return isinstance(x, Variable)


def _is_metric(x):
    return _is_a(x, "metrics.metric", "Metric")


def _is_layer(x):
    return isinstance(x, BaseLayer) and not _is_metric(x)


def _is_generator(x):
    return _is_a(x, "random.seed_generator", "SeedGenerator")


# Functions with names, so that layers can be pickled.
_KINDS = {"trainable_variables": _is_trainable, "non_trainable_variables": _is_variable, "metrics": _is_metric,
          "layers": _is_layer, "seed_generators": _is_generator}


def adopt(value):
    """Return a module of another face as a layer, anything else as it is."""
    if isinstance(value, Module) and not isinstance(value, BaseLayer):
        return above("wrap_module")(value)
    return value


def _regularizer(identifier):
    if identifier is None:
        return None
    from dragon.vm.keras import regularizers
    return regularizers.get(identifier)


def has_unbuilt(layer):
    """Tell whether there are layers in a layer that have no weights yet."""
    return any(not inner.built for inner in layer._layers)


@functools.lru_cache(None)
def _call_signature(call):
    """Return the signature of a `call` without `self`, and its parameters' names."""
    signature = inspect.signature(call)
    signature = signature.replace(parameters=list(signature.parameters.values())[1:])
    return signature, tuple(signature.parameters)


class BaseLayer(Operation, LayerState):
    """What makes tensors of tensors, without the call itself.

    Parameters
    ----------
    activity_regularizer : Union[Callable, str], optional
        Makes a loss of the outputs.
    dtype : Union[str, DTypePolicy], optional
        The dtype, or a policy of a compute and a variable dtype; the global policy without it.
    autocast : bool, optional, default=True
        Whether float inputs are cast to the compute dtype.

    """

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "build" in cls.__dict__ and inspect.isfunction(cls.__dict__["build"]):
            cls.build = _build_of(cls.__dict__["build"])

    def __init__(self, *, activity_regularizer=None, trainable=True, dtype=None, autocast=True, name=None, **kwargs):
        if "_tracker" not in self.__dict__:
            self._initialize_tracker()
        self.__dict__["_lock"] = False
        Operation.__init__(self, name=name)
        shape = kwargs.pop("input_shape", None)
        width = kwargs.pop("input_dim", None)
        shape = shape if width is None else (width,)
        if shape is not None:
            warnings.warn("Do not pass an `input_shape`/`input_dim` argument to a layer. When using Sequential models, "
                          "prefer using an `Input(shape)` object as the first layer in the model instead.")
        if kwargs:
            raise ValueError(f"Unrecognized keyword arguments passed to {type(self).__name__}: {kwargs}")
        if not isinstance(trainable, bool):
            raise ValueError(f"Expected `trainable` to be a boolean. Received: trainable={trainable} (of type "
                             f"{type(trainable)})")
        fields = self.__dict__
        if shape is not None:
            fields["_input_shape_arg"] = shape
        fields["_dtype_policy"] = dtype_policies.get(dtype)
        fields["activity_regularizer"] = _regularizer(activity_regularizer)
        fields.update(_path=None, built=False, autocast=autocast, _input_spec=None, _called=False, supports_jit=True,
                      _trainable=trainable, _losses=[], _loss_ids=set(), _losses_override=[],
                      _convert_input_args=True, _allow_non_tensor_positional_args=False, _build_shapes_dict=None,
                      _parent_path=None, _supports_masking=not is_default(self.compute_mask))
        self._read_signature()
        self._note_plain()

    def _note_plain(self):
        """Note whether calls with one tensor may go the short way."""
        fields = self.__dict__
        fields["_is_plain"] = (
            fields["_remat_mode"] is None and fields["activity_regularizer"] is None and "call" not in fields
            and fields["_call_context_args"] == {"training"} and is_default(self.compute_mask)
            and fields["_takes_first"] and fields["_dtype_policy"].quantization_mode is None
            and not isinstance(fields["_dtype_policy"], DTypePolicyMap))  # which one it is, the path will tell

    def _read_signature(self):
        fields = self.__dict__
        call = getattr(type(self).call, "__wrapped__", type(self).call)
        if "call" in fields:
            signature = inspect.signature(self.call)
            names = tuple(signature.parameters)
        else:
            signature, names = _call_signature(call if inspect.isfunction(call) else type(self).call)
        fields.update(_call_signature=signature, call_signature_parameters=list(names),
                      _call_has_training_arg="training" in names, _call_has_mask_arg="mask" in names,
                      _call_context_args={"training"}, _call_has_context_arg={"training": "training" in names})
        first = next(iter(signature.parameters.values()), None)
        # Calls with one tensor need no binding of arguments.
        fields["_takes_first"] = first is not None and first.kind is not first.KEYWORD_ONLY
        default_training = signature.parameters["training"].default if "training" in names else None
        fields["_default_training"] = None if default_training is inspect.Parameter.empty else default_training

    def _initialize_tracker(self):
        fields = self.__dict__
        lists = {name: [] for name in _KINDS}
        fields["_tracker"] = Tracker({name: (_KINDS[name], values) for name, values in lists.items()},
                                     exclusions={"non_trainable_variables": ["trainable_variables"]})
        fields.update({f"_{name}": values for name, values in lists.items()})

    # --- building

    path = property(lambda self: self._path, doc="The names of the layers it is in, and its own; None until built.")

    @property
    def input_spec(self):
        """What is expected of inputs."""
        return self._input_spec

    @input_spec.setter
    def input_spec(self, value):
        self.__dict__["_input_spec"] = value

    @default
    def build(self, input_shape):
        """Make the weights; subclasses say how."""
        self._check_super_called()
        if is_default(self.build) and has_unbuilt(self):
            warnings.warn(f"`build()` was called on layer '{self.name}', however the layer does not have a `build()` "
                          "method implemented and it looks like it has unbuilt state. This will cause the layer to be "
                          "marked as built, despite not being actually built, which may cause failures down the line. "
                          "Make sure to implement a proper `build()` method.")
        self.built = True

    build = _build_of(build)

    def _build_at_init(self):
        """Mark a layer without weights as built."""
        if is_default(self.build):
            self.built = True
            self._post_build()
            self._lock_state()

    def _post_build(self):
        """Called when the layer is built."""

    def _lock_state(self):
        if not self._tracker.locked:
            self._tracker.lock("You cannot add new elements of state (variables or sub-layers) to a layer that is "
                               "already built. All state must be created in the `__init__()` method or in the "
                               "`build()` method.")

    def get_build_config(self):
        """Return the shapes that the layer was built with."""
        shapes = self._build_shapes_dict
        if shapes is None:
            return None
        if len(shapes) == 1:
            return {"input_shape": next(iter(shapes.values()))}
        return {"shapes_dict": shapes}

    def build_from_config(self, config):
        """Build the layer with shapes that `get_build_config` returned."""
        if config:
            if "input_shape" in config:
                self.build(config["input_shape"])
            elif "shapes_dict" in config:
                self.build(**config["shapes_dict"])

    def add_variable(self, shape, initializer, dtype=None, trainable=True, autocast=True, regularizer=None,
                     constraint=None, name=None):
        """Make a weight; as `add_weight` does."""
        return self.add_weight(shape=shape, initializer=initializer, dtype=dtype, trainable=trainable,
                               autocast=autocast, regularizer=regularizer, constraint=constraint, name=name)

    def add_weight(self, *args, shape=None, initializer=None, dtype=None, trainable=True, autocast=True,
                   regularizer=None, constraint=None, aggregation="none", overwrite_with_gradient=False, name=None):
        """Make a weight.

        Parameters
        ----------
        shape : Sequence[int], optional, default=()
            The shape.
        initializer : Union[Callable, str], optional
            Makes the first numbers; "glorot_uniform" for floats and "zeros" else.
        dtype : str, optional
            The dtype; the variable dtype of the layer without it.
        trainable : bool, optional, default=True
            Whether optimizers shall change it.
        autocast : bool, optional, default=True
            Whether it is read in the compute dtype.
        regularizer : Union[Callable, str], optional
            Makes a loss of it.
        constraint : Union[Callable, str], optional
            What it is passed through after a step.
        overwrite_with_gradient : bool, optional, default=False
            Whether its gradient takes its place.

        """
        self._check_super_called()
        given = dict(zip(("shape", "initializer", "dtype"), args))
        if len(args) > 3:
            raise TypeError(f"add_weight() takes at most 3 positional arguments but {len(args)} were given.")
        if args and isinstance(args[0], str):
            raise ValueError(f"`name` must be passed as a keyword argument. Received: add_weight('{args[0]}', ...). "
                             f"Use: add_weight(shape=..., name='{args[0]}').")
        for argument, named in (("shape", shape), ("initializer", initializer), ("dtype", dtype)):
            if argument in given and named is not None:
                raise ValueError(f"`{argument}` was passed both positionally and as a keyword argument.")
        shape, initializer = given.get("shape", shape), given.get("initializer", initializer)
        dtype = given.get("dtype", dtype)
        dtype = self.variable_dtype if dtype is None else standardize_dtype(dtype)
        from dragon.vm.keras import constraints, initializers
        if initializer is None:
            initializer = "glorot_uniform" if "float" in dtype else "zeros"
        with name_scope(self.name, caller=self):
            variable = Variable(initializer=initializers.get(initializer), shape=() if shape is None else shape,
                                dtype=dtype, trainable=trainable, autocast=autocast, aggregation=aggregation, name=name)
        variable.regularizer = _regularizer(regularizer)
        variable.constraint = None if constraint is None else constraints.get(constraint)
        variable.overwrite_with_gradient = overwrite_with_gradient
        self._track_variable(variable)
        return variable

    def _track_variable(self, variable):
        name = "trainable_variables" if variable.trainable else "non_trainable_variables"
        self._tracker.add_to_store(name, variable)
        if not self.trainable:
            variable.trainable = False

    def _untrack_variable(self, variable):
        locked, self._tracker.locked = self._tracker.locked, False
        self._tracker.untrack(variable)
        self._tracker.locked = locked

    def add_metric(self, *args, **kwargs):
        """Refuse: metrics are attributes of layers, or are given to `compile`."""
        raise NotImplementedError("Layer `add_metric()` method is deprecated. Add your metric in "
                                  "`Model.compile(metrics=[...])`, or make it an attribute in `__init__()` "
                                  f"and call its `update_state()`. Received: {args} {kwargs}")

    # --- dtypes

    @property
    def dtype_policy(self):
        """In which dtype the layer computes and in which it keeps its weights."""
        return self._dtype_policy

    @dtype_policy.setter
    def dtype_policy(self, value):
        policy = dtype_policies.get(value)
        if isinstance(self._dtype_policy, DTypePolicyMap) and self.path:
            if self.path in self._dtype_policy:
                del self._dtype_policy[self.path]
            self._dtype_policy[self.path] = policy
        else:
            self.__dict__["_dtype_policy"] = policy
        self._note_plain()
        mode = policy.quantization_mode
        if mode is not None and self.built and not getattr(self, "_is_quantized", False):
            if mode in ("gptq", "awq"):
                raise ValueError(f"Implicitly enabling {mode.upper()} quantization by setting `dtype_policy` to "
                                 f"'{value}' is not supported: it wants data. Please call `quantize(config=...)` of "
                                 f"the layer or the model with a `{mode.upper()}Config`.")
            self.quantize(mode)

    def _own_policy(self):
        policy = self._dtype_policy
        return policy[self.path] if isinstance(policy, DTypePolicyMap) and self.path else policy

    dtype = property(lambda self: self.variable_dtype, doc="The dtype of weights.")
    compute_dtype = property(lambda self: self._own_policy().compute_dtype, doc="The dtype that is computed in.")
    variable_dtype = property(lambda self: self._own_policy().variable_dtype, doc="The dtype of weights.")
    quantization_mode = property(lambda self: self._own_policy().quantization_mode,
                                 doc="How weights are quantized, or None.")
    input_dtype = property(lambda self: self.compute_dtype, doc="The dtype that inputs are cast to.")

    # --- masks

    @property
    def supports_masking(self):
        """Whether masks of inputs are passed on to outputs."""
        return self._supports_masking

    @supports_masking.setter
    def supports_masking(self, value):
        self.__dict__["_supports_masking"] = value

    @default
    def compute_mask(self, inputs, previous_mask):
        """Return the mask of the outputs."""
        return previous_mask

    def _set_mask_metadata(self, inputs, outputs, previous_mask):
        leaves = tree.flatten(outputs)
        if all(get_keras_mask(x) is not None for x in leaves):
            return
        masks = self.compute_mask(inputs, previous_mask)
        if masks is None:
            return
        for x, mask in zip(leaves, tree.flatten(masks)):
            if mask is not None and get_keras_mask(x) is None and is_tensor_or_symbolic(x):
                set_keras_mask(x, mask)

    # --- attributes

    def __setattr__(self, name, value):
        tracker = self.__dict__.get("_tracker")
        if tracker is None:
            if name == "_tracker":
                return object.__setattr__(self, name, value)
            self._initialize_tracker()
            tracker = self._tracker
        if value.__class__ not in _UNTRACKED:
            value = tracker.track(adopt(value))
        object.__setattr__(self, name, value)
        if name in _DECIDING and "_is_plain" in self.__dict__:
            self._note_plain()

    def __delattr__(self, name):
        value = getattr(self, name)
        if isinstance(value, Variable):
            self._untrack_variable(value)
        object.__delattr__(self, name)

    def _check_super_called(self):
        if self.__dict__.get("_lock", True):
            raise RuntimeError(f"In layer '{type(self).__name__}', you forgot to call `super().__init__()` as the "
                               "first statement in the `__init__()` method. Go add it!")

    def __repr__(self):
        return f"<{type(self).__name__} name={self.name}, built={self.built}>"

    def __str__(self):
        return self.__repr__()

    def _obj_type(self):
        return "Layer"

    @default
    def get_config(self):
        self._check_super_called()
        config = {**super().get_config(), "trainable": self.trainable,
                  "dtype": dtype_policies.serialize(self.dtype_policy)}
        if self.activity_regularizer is not None:
            from dragon.vm.keras import regularizers
            config["activity_regularizer"] = regularizers.serialize(self.activity_regularizer)
        return config

    def _open_name_scope(self):
        if self._parent_path is None:
            self.__dict__["_parent_path"] = current_path()
        return name_scope(self.name, caller=self)
