"""A layer around any function, and how a nameless function is written into a config."""
import inspect
import types

from dragon.vm.keras.layers.layer import Layer

LAMBDA = "__lambda__"


def dump_function(function):
    """Return a function's code, defaults and closure as data, the code in base64."""
    import codecs
    import marshal
    code = codecs.encode(marshal.dumps(function.__code__), "base64").decode("ascii")
    closure = tuple(cell.cell_contents for cell in function.__closure__) if function.__closure__ else None
    return code, function.__defaults__, closure


def load_function(code, defaults=None, closure=None):
    """Return the function that `dump_function` wrote; only for files that one trusts."""
    import codecs
    import marshal
    if isinstance(code, (tuple, list)):
        code, defaults, closure = code
        defaults = tuple(defaults) if isinstance(defaults, list) else defaults
    cells = None if closure is None else tuple(
        value if isinstance(value, types.CellType) else types.CellType(value) for value in closure)
    code = marshal.loads(codecs.decode(code.encode("ascii"), "base64"))
    return types.FunctionType(code, globals(), name=code.co_name, argdefs=tuple(defaults) if defaults else None,
                              closure=cells)


def serialize_function(function):
    """Return a function as data: by name, or its code where it has none."""
    from dragon.vm.keras.saving.serialization import serialize_keras_object
    if isinstance(function, types.LambdaType) and function.__name__ == "<lambda>":
        code, defaults, closure = dump_function(function)
        return {"class_name": LAMBDA, "config": {"code": code, "defaults": defaults, "closure": closure}}
    if callable(function):
        return serialize_keras_object(function)
    raise ValueError(f"Invalid input type for serialization. Received: {function} of type {type(function)}.")


def deserialize_function(config, custom_objects, safe):
    """Return what `serialize_function` wrote, or raise where code may not be loaded."""
    from dragon.vm.keras.saving.serialization import deserialize_keras_object
    if not (isinstance(config, dict) and config.get("class_name") == LAMBDA):
        return deserialize_keras_object(config, custom_objects=custom_objects)
    if safe:
        raise ValueError(
            "The deserialization of a `Lambda` layer whose function is a Python lambda carries a risk of arbitrary "
            "code execution, so it is disallowed by default. If you trust the source of the file, pass "
            "`safe_mode=False` to the loading function, or call `keras.config.enable_unsafe_deserialization()`.")
    inner = config["config"]
    return load_function(inner["code"], defaults=inner["defaults"], closure=inner["closure"])


class Lambda(Layer):
    """Apply a function.

    Parameters
    ----------
    function : Callable
        Of the inputs; may take `mask` and `training`.
    output_shape : Union[Sequence[Optional[int]], Callable], optional
        The result's shape without batch, or a function of the input's shape.
    mask : Union[Callable, Tensor], optional
        The result's mask, or a function of the inputs and their mask.
    arguments : dict, optional
        More arguments of the function.

    Examples
    --------
    >>> np.asarray(keras.layers.Lambda(lambda x: x * 2)(np.array([1.0, 2.0], "float32")))
    array([2., 4.], dtype=float32)

    """

    def __init__(self, function, output_shape=None, mask=None, arguments=None, **kwargs):
        super().__init__(**kwargs)
        self.arguments = arguments or {}
        self.function = function
        self.supports_masking = mask is not None
        self.mask = mask
        self._output_shape = output_shape
        names = inspect.getfullargspec(function).args
        self._wants_training = "training" in names
        self._wants_mask = "mask" in names

    def compute_output_shape(self, input_shape):
        """Return the shape of the result, asking the function if need be."""
        from dragon.vm.keras.core import tree
        if self._output_shape is None:
            return self._inferred_shape(input_shape)
        if callable(self._output_shape):
            return self._output_shape(input_shape)
        batch = tree.flatten(input_shape)[0]
        return tree.map_shape_structure(lambda shape: (batch, *shape), self._output_shape)

    def _inferred_shape(self, input_shape):
        """Return the shape that the function gives."""
        from dragon.vm.keras.core import tree
        from dragon.vm.keras.core.keras_tensor import KerasTensor
        from dragon.vm.keras.core.spec import compute_spec
        try:
            inputs = tree.map_shape_structure(lambda shape: KerasTensor(shape, dtype=self.compute_dtype), input_shape)
            return tree.map_structure(lambda made: made.shape, compute_spec(self.call, (inputs,), {}))
        except Exception as error:
            raise NotImplementedError("The shape of the Lambda's output could not be inferred. Please specify the "
                                      f"`output_shape` argument for this Lambda layer. Received: {error}") from error

    def call(self, inputs, mask=None, training=None):
        """Apply the function."""
        arguments = dict(self.arguments)
        if self._wants_mask:
            arguments["mask"] = mask
        if self._wants_training:
            arguments["training"] = training
        return self.function(inputs, **arguments)

    def compute_mask(self, inputs, mask=None):
        """Return the result's mask."""
        return self.mask(inputs, mask) if callable(self.mask) else self.mask

    def get_config(self):
        from dragon.vm.keras.saving.serialization import serialize_keras_object
        config = {"function": serialize_function(self.function)}
        shape = self._output_shape
        if shape is not None:
            config["output_shape"] = serialize_function(shape) if callable(shape) else shape
        if self.mask is not None:
            config["mask"] = serialize_function(self.mask) if callable(self.mask) else (
                serialize_keras_object(self.mask))
        config["arguments"] = serialize_keras_object(self.arguments)
        return {**super().get_config(), **config}

    @classmethod
    def from_config(cls, config, custom_objects=None, safe_mode=None):
        """Return the layer that a config describes."""
        from dragon.vm.keras.saving.serialization import deserialize_keras_object, in_safe_mode
        safe = (in_safe_mode() if safe_mode is None else safe_mode) is not False
        config = dict(config)
        for name in ("function", "output_shape", "mask"):
            if config.get(name) is not None:
                config[name] = deserialize_function(config[name], custom_objects, safe)
        shape = config.get("output_shape")
        if isinstance(shape, list) and all(size is None or isinstance(size, int) for size in shape):
            config["output_shape"] = tuple(shape)
        if "arguments" in config:
            config["arguments"] = deserialize_keras_object(config["arguments"], custom_objects=custom_objects)
        return cls(**config)
