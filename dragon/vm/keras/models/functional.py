"""`Functional`: the model that is a graph between symbolic inputs and outputs."""
import copy
import inspect

from dragon.core import warnings
from dragon.vm.keras.core import tree
from dragon.vm.keras.core.convert import convert_to_tensor, is_tensor
from dragon.vm.keras.core.function import Function, make_node_key
from dragon.vm.keras.core.graph_files import clone_graph, read_graph, write_node
from dragon.vm.keras.core.keras_tensor import KerasTensor
from dragon.vm.keras.core.layer_names import local_names
from dragon.vm.keras.core.masking import get_keras_mask, set_keras_mask
from dragon.vm.keras.core.tracking import tracking_off
from dragon.vm.keras.layers.core.input_layer import InputLayer
from dragon.vm.keras.layers.input_spec import InputSpec
from dragon.vm.keras.layers.layer import Layer
from dragon.vm.keras.models.model import Model, graphs
from dragon.vm.shared.arrays.moving import is_text


def _is_input(x):
    operation, index, _ = x._keras_history
    return operation is not None and operation._inbound_nodes[index].is_input


class Functional(Function, Model):
    """A graph of layers. ..."""

    def __new__(cls, *args, **kwargs):
        return super().__new__(cls, *args, **kwargs)

    def __init__(self, inputs, outputs, name=None, **kwargs):
        if isinstance(inputs, dict):
            for key, x in inputs.items():
                if isinstance(x, KerasTensor) and key != x.name:
                    warnings.warn("When providing `inputs` as a dict, all keys in the dict must match the names of the "
                                  f"corresponding tensors. Received key '{key}' mapping to value {x} which has name "
                                  f"'{x.name}'. Change the tensor name to '{key}' (via `Input(..., name='{key}')`)")
        trainable = kwargs.pop("trainable", None)
        for word, given in (("inputs", inputs), ("outputs", outputs)):
            for x in tree.flatten(given):
                if not isinstance(x, KerasTensor):
                    raise ValueError(f"All `{word}` values must be KerasTensors. Received: {word}={given} including "
                                     f"invalid value {x} of type {type(x)}")
        if not all(_is_input(x) for x in tree.flatten(inputs)):
            inputs, outputs = clone_graph(inputs, outputs)
        with tracking_off():
            if "_tracker" not in self.__dict__ or "_inbound_nodes" not in self.__dict__:
                Model.__init__(self, name=name, **kwargs)
            self._make_graph(inputs, outputs)
        if trainable is not None:
            self.trainable = trainable
        for layer in self.layers:
            self._tracker.track(layer)
        self.build(None)
        # Inputs are converted to the dtypes of the graph's own, one by one.
        self.__dict__.update(_convert_input_args=False, _allow_non_tensor_positional_args=True,
                             output_names=[x._keras_history[0].name for x in self.outputs])

    def _lock_state(self):
        pass  # layers may be added to what is not part of the graph

    def _obj_type(self):
        return "Functional"

    @property
    def layers(self):
        """The layers of the graph, from inputs to outputs."""
        return [operation for operation in self._operations if isinstance(operation, Layer)]

    @layers.setter
    def layers(self, value):
        raise AttributeError("`Model.layers` attribute is reserved and should not be used. Please use another name. "
                             f"Received: {value}")

    @property
    def _modules(self):
        return local_names(self._layers)

    def build(self, input_shape):
        """Do nothing: the layers were built when the graph was drawn."""
        self.built = True

    def call(self, inputs, training=None, mask=None, **kwargs):
        """Return the outputs of the graph."""
        inputs = self._standardize_inputs(inputs)
        if mask is not None:
            for x, own in zip(inputs, tree.flatten(mask)):
                if own is not None:
                    set_keras_mask(x, own)
        context = {"training": training, **kwargs}
        context = {name: value for name, value in context.items() if value is not None}
        outputs = self._run_through_graph(inputs, _with_context(context) if context else None)
        return outputs[0] if isinstance(outputs, (list, tuple)) and len(outputs) == 1 else outputs

    def compute_output_spec(self, inputs, training=None, mask=None, **kwargs):
        return Function.compute_output_spec(self, inputs)

    def compute_output_shape(self, input_shape):
        return Function.compute_output_shape(self, input_shape)

    input_shape = property(lambda self: _single([x.shape for x in self.inputs]),
                           doc="The shape of the input, or of all inputs.")
    output_shape = property(lambda self: _single([x.shape for x in self.outputs]),
                            doc="The shape of the output, or of all outputs.")

    input = property(lambda self: self._inputs_struct, doc="The symbolic inputs as they were given.")
    output = property(lambda self: self._outputs_struct, doc="The symbolic outputs as they were given.")

    def add_loss(self, loss):
        """Refuse: graphs have no losses of their own."""
        raise NotImplementedError("`add_loss()` is not supported on a functional model; add the loss within the "
                                  f"`call()` of a layer. Received: {loss}")

    # --- what comes in

    def _assert_input_compatibility(self, *args):
        for x, own in zip(tree.flatten(args[0]), self._inputs):
            if x is None:
                self._check_optional(own)
        return Layer._assert_input_compatibility(self, *args)

    @staticmethod
    def _check_optional(own):
        layer = own._keras_history.operation
        if isinstance(layer, InputLayer) and not layer.optional:
            raise ValueError(f"The input '{own.name}' is not optional, but None was passed. Please provide a valid "
                             "tensor.")

    def _standardize_inputs(self, inputs):
        """Return the inputs as a list of tensors of the graph's dtypes and numbers of axes."""
        structure, must_match = self._inputs_struct, False
        if isinstance(structure, list) and len(structure) == 1 and is_tensor(inputs):
            inputs = [inputs]
        elif isinstance(inputs, dict) and not isinstance(structure, dict):
            own = structure if isinstance(structure, (list, tuple)) else [structure]
            if all(isinstance(x, KerasTensor) for x in own) and {x.name for x in own} <= set(inputs):
                inputs = [inputs[x.name] for x in own]
            else:
                must_match = True
        if isinstance(structure, dict) and not isinstance(inputs, dict) and list(structure) != sorted(structure):
            must_match = True
        if not (is_tensor(inputs) and isinstance(structure, KerasTensor)):
            self._check_structure(inputs, must_match)
        leaves = tree.flatten(inputs)
        converted = [self._convert_one(x, own) for x, own in zip(leaves, self._inputs)]
        return [self._fit_axes(x, before, number) for number, (x, before) in enumerate(zip(converted, leaves))]

    def _check_structure(self, inputs, must_match):
        try:
            tree.assert_same_structure(tree.lists_to_tuples(inputs), tree.lists_to_tuples(self._inputs_struct))
        except ValueError:
            expected = tree.map_structure(lambda x: x.name, self._inputs_struct)
            received = tree.map_structure(
                lambda x: "None" if x is None else f"Tensor(shape={tuple(x.shape)})", inputs)
            message = (f"The structure of `inputs` doesn't match the expected structure.\nExpected: {expected}\n"
                       f"Received: inputs={received}")
            if must_match:
                raise ValueError(message) from None
            warnings.warn(message)

    def _convert_one(self, x, own):
        if x is None:
            self._check_optional(own)
            return None
        if isinstance(x, KerasTensor):
            if x.dtype == own.dtype:
                return x
            from dragon.vm.keras import ops
            return ops.cast(x, own.dtype)
        return convert_to_tensor(x, dtype=own.dtype, sparse=own.sparse)

    def _fit_axes(self, x, before, number):
        """Take away or add a last axis of size 1 where the graph's input has or lacks it."""
        if x is None:
            return None
        shape = self._inputs[number].shape
        made = x
        if len(x.shape) != len(shape):
            if is_text(x):  # what the engine knows nothing of, TensorFlow's own functions move
                from dragon.vm.shared.arrays import array as ops
            else:
                from dragon.vm.keras import ops
            if len(x.shape) == len(shape) + 1 and x.shape[-1] == 1:
                made = ops.squeeze(x, axis=-1)
            elif len(x.shape) == len(shape) - 1 and shape[-1] == 1:
                made = ops.expand_dims(x, axis=-1)
            else:
                path = ".".join(str(key) for key in tree.flatten_with_path(self._inputs_struct)[number][0])
                raise ValueError(f"Invalid input shape for input {x} with name '{self._inputs[number].name}' and path "
                                 f"'{path}'. Expected shape {shape}, but input has incompatible shape "
                                 f"{tuple(x.shape)}")
        if made is not before:
            mask = get_keras_mask(before)
            if mask is not None:
                set_keras_mask(made, mask)
        return made

    @property
    def input_spec(self):
        """What is expected of inputs."""
        if "_manual_input_spec" in self.__dict__:
            return self._manual_input_spec
        if "_input_specs" not in self.__dict__:
            self.__dict__["_input_specs"] = self._make_specs()
        return self._input_specs

    @input_spec.setter
    def input_spec(self, value):
        self.__dict__["_manual_input_spec"] = value

    def _make_specs(self):
        def spec_of(x, name=None):
            layer = x._keras_history[0]
            return InputSpec(shape=(None, *x.shape[1:]) if x.shape else (), allow_last_axis_squeeze=True,
                             name=layer.name if name is None else name,
                             optional=isinstance(layer, InputLayer) and layer.optional)
        structure = self._inputs_struct
        if isinstance(structure, dict):
            if all(isinstance(x, KerasTensor) for x in structure.values()):
                return [spec_of(structure[name], name) for name in sorted(structure)]
            return None
        return [spec_of(x) for x in self.inputs]

    # --- configurations

    def get_config(self):
        """Return the graph: layers, their calls, inputs and outputs."""
        if not _is_graph_like(type(self)):
            return Model.get_config(self)
        from dragon.vm.keras.saving.serialization import serialize_keras_object
        numbers, layers = {}, []
        for operation in self.operations:
            kept = 1 if isinstance(operation, Functional) else 0  # a graph's own call of its layers comes first
            for index in range(len(operation._inbound_nodes)):
                key = make_node_key(operation, index)
                if key in self._nodes:
                    numbers[key] = kept
                    kept += 1
        for operation in self.operations:
            calls = [write_node(node, self._nodes) for index, node in enumerate(operation._inbound_nodes)
                     if make_node_key(operation, index) in self._nodes]
            config = serialize_keras_object(operation)  # itself: it learns later that another layer has it, too
            config.update(name=operation.name, inbound_nodes=[call for call in calls if call is not None])
            layers.append(config)

        def place_of(x):
            operation, index, number = x._keras_history
            return [operation.name, numbers[make_node_key(operation, index)], number]
        return copy.deepcopy({
            "name": self.name, "trainable": self.trainable, "layers": layers,
            "input_layers": tree.map_structure(place_of, self._inputs_struct),
            "output_layers": tree.map_structure(place_of, self._outputs_struct)})


def _with_context(context):
    """Return a function that hands arguments of the outer call to operations that inherit them."""
    def bind(operation):
        inherited = getattr(operation, "_call_context_args", ())
        given = {name: value for name, value in context.items() if name in inherited}
        if not given:
            return operation
        return lambda *args, **kwargs: operation(*args, **{**kwargs, **given})
    return bind


def _single(values):
    return values[0] if len(values) == 1 else values


def takes_graph(cls):
    """Tell whether a class is made of inputs and outputs, as `Functional` is."""
    spec = inspect.getfullargspec(cls.__init__)
    own = inspect.getfullargspec(Functional.__init__).args[1:]
    return spec.args[1:] == own or spec.varargs == "args" and spec.varkw == "kwargs"


def _is_graph_like(cls):
    spec = inspect.getfullargspec(cls.__init__)
    own = inspect.getfullargspec(Functional.__init__).args[1:]
    return spec.args[1:] == own or spec.varargs is not None and spec.varkw is not None


def functional_from_config(cls, config, custom_objects=None):
    """Return a graph of what `get_config` returned.

    Parameters
    ----------
    cls : type
        The class of the model.
    config : Dict[str, Any]
        The configuration.

    """
    config = dict(config)
    inputs, outputs = read_graph(config.pop("layers"), config.pop("input_layers"), config.pop("output_layers"),
                                 custom_objects, Functional)
    return cls(inputs=inputs, outputs=outputs, name=config.pop("name", None), trainable=config.pop("trainable", None),
               **config)


graphs.Functional, graphs.from_config, graphs.takes_graph = Functional, functional_from_config, takes_graph
