"""`Sequential`: the model that is a list of layers, each called with what the one before returned."""
import copy
import inspect

from dragon.core.module import Module
from dragon.vm.keras.core import global_state, tree
from dragon.vm.keras.core.base_layer import adopt
from dragon.vm.keras.core.layer_names import local_names
from dragon.vm.keras.core.masking import get_keras_mask
from dragon.vm.keras.core.shapes import standardize_shape
from dragon.vm.keras.layers.core.input_layer import InputLayer
from dragon.vm.keras.layers.layer import Layer
from dragon.vm.keras.models.functional import Functional
from dragon.vm.keras.models.model import Model


class Sequential(Model):
    """A list of layers.

    Parameters
    ----------
    layers : Sequence[Layer], optional
        The layers.

    Examples
    --------
    >>> model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(2)])
    >>> model.output_shape
    (None, 2)
    >>> len(model.layers), model.count_params()
    (2, 58)

    """

    def __init__(self, layers=None, trainable=True, name=None):
        super().__init__(trainable=trainable, name=name)
        self.__dict__.update(_functional=None, _layers=[])
        if layers:
            if not isinstance(layers, (list, tuple)):
                layers = [layers]
            for layer in layers:
                self.add(layer, rebuild=False)
            self._maybe_rebuild()

    def add(self, layer, rebuild=True):
        """Put a layer at the end.

        Parameters
        ----------
        layer : Layer
            The layer, or what `keras.Input` returned.
        rebuild : bool, optional, default=True
            Whether the graph is drawn anew at once, if the shape of the inputs is known.

        """
        if not self._layers and getattr(layer, "_input_shape_arg", None) is not None:
            self.add(InputLayer(shape=layer._input_shape_arg))
        if hasattr(layer, "_keras_history") and isinstance(layer._keras_history[0], InputLayer):
            layer = layer._keras_history[0]
        if isinstance(layer, Module):
            layer = adopt(layer)
        if not isinstance(layer, Layer):
            raise ValueError(f"Only instances of `keras.Layer` can be added to a Sequential model. Received: {layer} "
                             f"(of type {type(layer)})")
        if any(own.name == layer.name and own is not layer for own in self._layers):
            raise ValueError("All layers added to a Sequential model should have unique names. Name "
                             f"'{layer.name}' is already the name of a layer in this model. Update the `name` argument "
                             "to pass a unique name.")
        if isinstance(layer, InputLayer) and self._layers and isinstance(self._layers[0], InputLayer):
            raise ValueError(f"Sequential model '{self.name}' has already been configured to use input shape "
                             f"{self._layers[0].batch_shape}. You cannot add a different Input layer to it. "
                             f"Received: {layer}")
        self._layers.append(layer)
        if rebuild:
            self._maybe_rebuild()
        else:
            self._forget_graph()

    def pop(self, rebuild=True):
        """Take the last layer away and return it."""
        layer = self._layers.pop()
        self._forget_graph()
        if rebuild:
            self._maybe_rebuild()
        return layer

    def _forget_graph(self):
        self.__dict__.update(built=False, _functional=None)

    def _maybe_rebuild(self):
        self._forget_graph()
        if len(self._layers) > 1:
            first = self._layers[0]
            if isinstance(first, InputLayer):
                self.build(first.batch_shape)
            elif hasattr(first, "input_shape"):  # a model
                self.build(first.input_shape)

    def _lock_state(self):
        pass  # layers may be added and taken away at any time

    def _obj_type(self):
        return "Sequential"

    @property
    def _modules(self):
        return local_names(self._layers)

    def build(self, input_shape=None):
        """Draw the graph for a shape of inputs, which makes the layers' weights."""
        try:
            input_shape = standardize_shape(input_shape)
        except (ValueError, TypeError):  # several inputs: the layers are called one by one
            return
        if not self._layers:
            raise ValueError(f"Sequential model {self.name} cannot be built because it has no layers. Call "
                             "`model.add(layer)`.")
        if not isinstance(self._layers[0], InputLayer):
            if global_state.get_global_attribute("open_batch"):  # the epoch's last batch may be smaller than this one
                input_shape = (None, *input_shape[1:])
            first = InputLayer(batch_shape=input_shape, dtype=self._layers[0].compute_dtype)
            self._layers.insert(0, first)
        elif self._layers[0].batch_shape != input_shape:
            raise ValueError(f"Sequential model '{self.name}' has already been configured to use input shape "
                             f"{self._layers[0].batch_shape}. You cannot build it with input_shape {input_shape}")
        x = inputs = self._layers[0].output
        for layer in self._layers[1:]:
            try:
                x = layer(x)
            except NotImplementedError:  # no shape can be told without numbers
                return
            except TypeError:
                _check_signature(layer)
                raise
        self.__dict__["_functional"] = Functional(inputs=inputs, outputs=x)

    def call(self, inputs, training=None, mask=None, **kwargs):
        """Return what the last layer returns."""
        if self._functional is not None:
            return self._functional.call(inputs, training=training, mask=mask, **kwargs)
        outputs = inputs
        for layer in self.layers:
            given = {name: kwargs[name] for name in layer._call_has_context_arg if name in kwargs}
            if layer._call_has_mask_arg:
                given["mask"] = mask
            if layer._call_has_training_arg and training is not None:
                given["training"] = training
            outputs = layer(outputs, **given)
            mask = tree.map_structure(get_keras_mask, outputs)
        return outputs

    @property
    def layers(self):
        """The layers, without the one that stands for the inputs."""
        layers = self._layers
        return layers[1:] if layers and isinstance(layers[0], InputLayer) else layers[:]

    @layers.setter
    def layers(self, value):
        raise AttributeError("`Sequential.layers` attribute is reserved and should not be used. Use `add()` and "
                             f"`pop()` to change the layers in this model. Received: {value}")

    def compute_output_spec(self, inputs, training=None, mask=None, **kwargs):
        """Return the symbolic output."""
        if self._functional is not None:
            return self._functional.compute_output_spec(inputs, training=training, mask=mask, **kwargs)
        for layer in self.layers:
            given = {"training": training} if layer._call_has_training_arg else {}
            inputs = layer.compute_output_spec(inputs, **given, **kwargs)
        return inputs

    def compute_output_shape(self, input_shape):
        if self._functional is not None:
            return self._functional.compute_output_shape(input_shape)
        for layer in self.layers:
            input_shape = layer.compute_output_shape(input_shape)
        return input_shape

    def _of_graph(self, field, words):
        if self._functional is None:
            raise AttributeError(f"Sequential model '{self.name}' has no defined {words} yet.")
        return getattr(self._functional, field)

    input_shape = property(lambda self: self._of_graph("input_shape", "input shape"), doc="The shape of the input.")
    output_shape = property(lambda self: self._of_graph("output_shape", "output shape"), doc="That of the output.")
    inputs = property(lambda self: self._of_graph("inputs", "inputs"), doc="The symbolic inputs.")
    outputs = property(lambda self: self._of_graph("outputs", "outputs"), doc="The symbolic outputs.")

    @property
    def input_dtype(self):
        """The dtype that inputs are cast to."""
        layers = self._layers
        return layers[0].dtype if layers and isinstance(layers[0], InputLayer) else super().input_dtype

    def get_config(self):
        """Return the configurations of the layers, and the shape of the inputs."""
        from dragon.vm.keras.saving.serialization import serialize_keras_object
        config = Model.get_config(self)
        config["name"] = self.name
        config["layers"] = copy.deepcopy([serialize_keras_object(layer) for layer in self._layers])
        if self._functional is not None:
            config["build_input_shape"] = self._layers[0].batch_shape
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None):
        if "name" not in config:
            raise ValueError("A Sequential model configuration must be a dictionary containing the 'name' and "
                             f"'layers' keys. Received: config={config}")
        from dragon.vm.keras.saving.serialization import deserialize_keras_object
        model = cls(name=config["name"])
        for data in config["layers"]:
            if "module" in data:
                layer = deserialize_keras_object(data, custom_objects=custom_objects)
            else:
                from dragon.vm.keras.saving.legacy_h5 import model_from_config
                layer = model_from_config(data, custom_objects=custom_objects)
            model.add(layer, rebuild=False)
        model._maybe_rebuild()  # once: drawing the graph anew behind each layer takes the square of their number
        shape = config.get("build_input_shape")
        if model._functional is None and shape and isinstance(shape, (tuple, list)):
            model.build(shape)
        return model


def _check_signature(layer):
    """Raise ValueError if a layer's call is not one of a single tensor."""
    positional = [parameter for parameter in inspect.signature(layer.call).parameters.values()
                  if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)]
    required = [parameter for parameter in positional if parameter.default is parameter.empty]
    if not positional:
        raise ValueError("Layers added to a Sequential model should have a single positional argument, the input "
                         f"tensor. Layer {type(layer).__name__} has no positional arguments.")
    if len(required) > 1:
        raise ValueError("Layers added to a Sequential model can only have a single required positional argument, the "
                         f"input tensor. Layer {type(layer).__name__} has multiple required positional arguments: "
                         f"{required}")
