"""`keras.Model`: a layer that can be trained, saved and told about."""
import json
import re
import types

from dragon.core import warnings
from dragon.core.interrupts import is_interrupt
from dragon.vm.keras.core.operation import is_default
from dragon.vm.keras.layers.layer import Layer
from dragon.vm.keras.quantizers.calibration import calibrate, require_structure
from dragon.vm.keras.quantizers.configuration import CALIBRATED, resolve
from dragon.vm.keras.trainers.trainer import Trainer

# Models that are graphs: `functional.py`, which this package always imports, enters what it has.
graphs = types.SimpleNamespace()
EXPORT_FORMATS = ("tf_saved_model", "onnx", "openvino", "litert", "torch")


def is_meant(layer, filters):
    """Return whether a layer is one of those that filters of `quantize` mean."""
    if filters is None or callable(filters):
        return filters is None or bool(filters(layer))
    return any(re.search(pattern, layer.name) for pattern in ([filters] if isinstance(filters, str) else filters))


class Model(Trainer, Layer):
    """A layer with `fit`, `evaluate` and `predict`; made of symbolic inputs and outputs, or by a subclass's `call`.

    Parameters
    ----------
    *args : Any
        Nothing, or inputs and outputs, which makes a functional model.
    **kwargs : Any
        `inputs`, `outputs`, and what all layers have: `name`, `dtype`, `trainable`.
    inputs : Any, optional
        Symbolic tensors; with `outputs`, the model is the graph between them.
    outputs : Any, optional
        Symbolic tensors that depend on them.
    name : str, optional
        The name.

    Examples
    --------
    >>> inputs = keras.Input(shape=(4,))
    >>> outputs = keras.layers.Dense(2)(inputs)
    >>> model = keras.Model(inputs, outputs)
    >>> model.output_shape, model.count_params()
    ((None, 2), 10)

    """

    def __new__(cls, *args, **kwargs):
        if cls is Model and functional_init_arguments(args, kwargs):
            cls = graphs.Functional
        return super().__new__(cls, *args, **kwargs)

    def __init__(self, *args, **kwargs):
        Trainer.__init__(self)
        if functional_init_arguments(args, kwargs):
            _become_functional(type(self))
            graphs.Functional.__init__(self, *args, **kwargs)
        else:
            Layer.__init__(self, *args, **kwargs)

    def call(self, *args, **kwargs):
        """Return the outputs; subclasses say how."""
        raise NotImplementedError(f"Model {type(self).__name__} does not have a `call()` method implemented.")

    @property
    def layers(self):
        """The layers that the model is made of."""
        return self._flatten_layers(include_self=False, recursive=False)

    @layers.setter
    def layers(self, value):
        raise AttributeError("`Model.layers` attribute is reserved and should not be used. Please use another name. "
                             f"Received: {value}")

    def get_layer(self, name=None, index=None):
        """Return a layer by its name or its place.

        Parameters
        ----------
        index : int, optional
            The place.

        """
        if index is not None and name is not None:
            raise ValueError("Provide only a layer name or a layer index. "
                             f"Received: index={index}, name={name}.")
        layers = self.layers
        if index is not None:
            if len(layers) <= index:
                raise ValueError(f"Was asked to retrieve layer at index {index} but model only has {len(layers)} "
                                 "layers.")
            return layers[index]
        if name is None:
            raise ValueError("Provide either a layer name or layer index at `get_layer`.")
        for layer in layers:
            if layer.name == name:
                return layer
        raise ValueError(f"No such layer: {name}. Existing layers are: {[layer.name for layer in layers]}.")

    def summary(self, line_length=None, positions=None, print_fn=None, expand_nested=False, show_trainable=False,
                layer_range=None):
        """Print the layers, the shapes of their outputs, and how many numbers their weights have. ...

        Examples
        --------
        >>> model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
        >>> lines = []
        >>> model.summary(print_fn=lambda text, line_break=False: lines.append(text))
        >>> any("Total params" in line for line in lines)
        True

        """
        from dragon.vm.keras.utils.summary import print_summary
        print_summary(self, line_length=line_length, positions=positions, print_fn=print_fn,
                      expand_nested=expand_nested, show_trainable=show_trainable, layer_range=layer_range)

    # --- files

    def save(self, filepath, overwrite=True, zipped=None, **kwargs):
        """Write the model into a file: `.keras`, or `.h5`.

        Parameters
        ----------
        zipped : bool, optional
            Whether a `.keras` file is an archive, rather than a folder.
        **kwargs : Any
            Of old.

        Examples
        --------
        >>> import os, tempfile
        >>> model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(os.path.join(folder, "model.keras"))
        ...     print(os.listdir(folder))
        ['model.keras']

        """
        from dragon.vm.keras.saving import save_model
        return save_model(self, filepath, overwrite=overwrite, zipped=zipped, **kwargs)

    def save_weights(self, filepath, overwrite=True, max_shard_size=None):
        """Write the weights into a `.weights.h5` file.

        Parameters
        ----------
        max_shard_size : float, optional
            The size in gigabytes above which there are several files.

        """
        from dragon.vm.keras.saving import save_weights
        return save_weights(self, filepath, overwrite=overwrite, max_shard_size=max_shard_size)

    def load_weights(self, filepath, skip_mismatch=False, **kwargs):
        """Read the weights from a file.

        Parameters
        ----------
        skip_mismatch : bool, optional, default=False
            Whether layers of other shapes are left alone.

        """
        from dragon.vm.keras.saving import load_weights
        load_weights(self, filepath, skip_mismatch=skip_mismatch, **kwargs)

    def export(self, filepath, format="tf_saved_model", verbose=None, input_signature=None, **kwargs):
        """Write the model for other programs that run models.

        Parameters
        ----------
        filepath : str
            The file or folder.
        format : str, optional, default="tf_saved_model"
            The format: a folder that TensorFlow loads, or "onnx".
        verbose : bool, optional
            Whether to say where the file is.
        input_signature : Any, optional
            The shapes and dtypes of inputs; the model's own without it.

        """
        if format not in EXPORT_FORMATS:
            raise ValueError(f"Unrecognized format={format}. Supported formats are: {list(EXPORT_FORMATS)}.")
        if format not in ("tf_saved_model", "onnx"):
            raise NotImplementedError("export: expected format='tf_saved_model' or 'onnx'. Received: "
                                      f"format={format!r}")
        from dragon.vm.keras.export.folders import export_saved_model
        from dragon.vm.keras.export.onnx import export_onnx
        write = export_onnx if format == "onnx" else export_saved_model
        write(self, filepath, verbose=verbose, input_signature=input_signature, **kwargs)

    def _default_signature(self):
        """Return what `tf.saved_model.save` writes for servers unless it is told."""
        from dragon.vm.keras.export.folders import default_signature
        return default_signature(self)

    def to_json(self, **kwargs):
        """Return the configuration as JSON, without weights."""
        from dragon.vm.keras.saving.serialization import serialize_keras_object
        return json.dumps(serialize_keras_object(self), **kwargs)

    # --- quantization

    def get_quantization_layer_structure(self, mode=None):
        """Return how the model is cut into blocks for quantization; None unless a subclass says it."""
        return None

    def quantize(self, mode=None, config=None, filters=None, **kwargs):
        """Keep the weights of layers as small integers, or have them trained as eight-bit floats.

        Parameters
        ----------
        mode : str, optional
            "int8", "int4", "float8", "gptq" or "awq"; that of the configuration by default.
        config : QuantizationConfig, optional
            What makes integers of weights and of inputs; "gptq" and "awq" have the data to run in it.
        filters : Union[str, Sequence[str], Callable], optional
            Which layers: regular expressions of their names, or what is called with a layer.

        """
        type_check = kwargs.pop("type_check", True)
        if kwargs:
            raise ValueError(f"Unrecognized keyword arguments passed to {type(self).__name__}: {kwargs}")
        if filters is not None and not (callable(filters) or isinstance(filters, (str, list, tuple))):
            raise ValueError("The `filters` argument must be a regex string, a list of regex strings, or a callable. "
                             f"Received: {type(filters)}")
        mode, done = resolve(mode, config).mode, False
        if mode in CALIBRATED:
            structure = config.quantization_layer_structure
            structure = self.get_quantization_layer_structure(mode) if structure is None else structure
            require_structure(f"mode='{mode}'", structure)
        for layer in self._flatten_layers(include_self=False):
            if len(layer._flatten_layers()) == 1 and is_meant(layer, filters):
                try:
                    layer.quantize(mode, type_check=type_check, config=config)
                    done = True
                except NotImplementedError as error:
                    warnings.warn(str(error))
        if mode in CALIBRATED:
            calibrate(config, structure, lambda layer: is_meant(layer, filters))
        if done:
            self.train_function = self.test_function = self.predict_function = None

    # --- building

    def build_from_config(self, config):
        """Build the model with shapes that `get_build_config` returned."""
        if not config:
            return
        done = False
        if "input_shape" in config:
            done = self._build_with(config["input_shape"], None)
            self.__dict__["_build_shapes_dict"] = config
        elif "shapes_dict" in config:
            done = self._build_with(None, config["shapes_dict"])
            self.__dict__["_build_shapes_dict"] = config["shapes_dict"]
        if not done:
            warnings.warn(f"Model '{self.name}' had a build config, but the model cannot be built automatically in "
                          "`build_from_config(config)`. You should implement `def build_from_config(self, config)`, "
                          "and you might also want to implement `def get_build_config(self)`, the method that "
                          "generates the config at saving time.")

    def _build_with(self, shape, shapes):
        """Build the model by its `build`, or by a call without numbers; returns whether that worked."""
        if is_default(self.build):
            if shapes is None:
                return self._build_by_run_for_single_pos_arg(shape)
            return self._build_by_run_for_kwargs(shapes)
        try:
            self.build(shape) if shapes is None else self.build(**shapes)
        except Exception as error:  # whatever goes wrong, the model stays unbuilt
            if is_interrupt(error):
                raise
            return False
        return True

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """Make a model of what `get_config` returned."""
        is_graph = all(key in config for key in ("name", "layers", "input_layers", "output_layers"))
        if is_graph and (cls in (graphs.Functional, Model) or graphs.takes_graph(cls)):
            return graphs.from_config(cls, config, custom_objects=custom_objects)
        try:
            return cls(**config)
        except TypeError as error:
            raise TypeError("Unable to revive model from config. When overriding the `get_config()` method, make sure "
                            "that the returned config contains all items used as arguments in the constructor to "
                            f"{cls}, which is the default behavior. You can override this default behavior by defining "
                            "a `from_config(cls, config)` class method to specify how to create an instance of "
                            f"{cls.__name__} from its config.\n\nReceived config={config}\n\nError encountered during "
                            f"deserialization: {error}") from error

    def __reduce__(self):
        from dragon.vm.keras.saving.pickling import reduce_model
        return reduce_model(self)


def functional_init_arguments(args, kwargs):
    """Tell whether a model is made of symbolic inputs and outputs."""
    return len(args) == 2 or len(args) == 1 and "outputs" in kwargs or "inputs" in kwargs and "outputs" in kwargs


def _become_functional(cls):
    """Put the graph's class in the place of `Model` among the bases of a subclass that is made of a graph."""
    if cls is Model:
        return graphs.Functional
    if cls is object or cls is graphs.Functional:
        return cls
    cls.__bases__ = tuple(_become_functional(base) if issubclass(base, Model) else base for base in cls.__bases__)
    return cls


def model_from_json(json_string, custom_objects=None):
    """Return the model that `to_json` wrote.

    Parameters
    ----------
    json_string : str
        The JSON.

    """
    from dragon.vm.keras.saving.serialization import deserialize_keras_object
    return deserialize_keras_object(json.loads(json_string), custom_objects=custom_objects)
