"""A module of another face, say a `torch.nn.Module`, as a layer: its parameters are the layer's weights."""
from dragon import _C
from dragon.core.module import Module, twin
from dragon.vm.keras.core import tree
from dragon.vm.keras.core.dtypes import is_float_dtype
from dragon.vm.keras.core.variable import Variable
from dragon.vm.keras.layers.layer import Layer
from dragon.vm.shared.tensors.tensor import Tensor


def wrap_module(module):
    """Return the layer that stands for a module of another face."""
    return TorchModuleWrapper(module)


def adopt_variable(tensor, path, trainable=True):
    """Return the variable that stands for another face's tensor: writes and gradients of either are the other's."""
    if isinstance(tensor, Variable):
        return tensor
    variable = twin(tensor, Tensor, Variable)
    if "_path" not in variable.__dict__:
        dtype = _C.Tensor.dtype.__get__(variable).name
        variable.__dict__.update(
            _name=path.rpartition("/")[2], _path=path, _dtype=dtype, _trainable=trainable and is_float_dtype(dtype),
            _autocast=False, _aggregation="none", _synchronization="auto", _regularizer=None, _constraint=None,
            _layout=None, _overwrite_with_gradient=False)
    return variable


class TorchModuleWrapper(Layer):
    """A module of another face as a layer of Keras's; Keras makes one of a module that it is given.

    Parameters
    ----------
    module : Module
        The module. Its attributes are the wrapper's as well.
    output_shape : Sequence[int], optional
        The shape of the outputs without the batch, where it cannot be found by calling the module without numbers.
    **kwargs : Any
        As of every layer.

    Examples
    --------
    >>> model = keras.Sequential([keras.Input((4,)), torch.nn.Linear(4, 8), keras.layers.Dense(1)])

    """

    def __init__(self, module, name=None, output_shape=None, **kwargs):
        if not isinstance(module, Module):
            raise ValueError("`module` must be a module of PyTorch's or Dragon's: the result of subclassing "
                             f"`torch.nn.Module`. Received: module={module} (of type {type(module)})")
        super().__init__(name=name, **kwargs)
        self.__dict__["module"] = module
        self.__dict__["_output_shape"] = output_shape
        self._allow_non_tensor_positional_args = True
        self._track_module()
        self.built = True

    def _track_module(self):
        """Note the module's tensors as weights."""
        for name, tensor in self.module.named_parameters():
            self._note(name, tensor, tensor.requires_grad)
        for name, tensor in self.module.named_buffers():
            self._note(name, tensor, False)

    def _note(self, name, tensor, trainable):
        variable = adopt_variable(tensor, f"{self.name}/{name.replace('.', '/')}", trainable)
        self._tracker.add_to_store("trainable_variables" if trainable else "non_trainable_variables", variable)

    def call(self, *args, training=None, **kwargs):
        """Return what the module makes of tensors shown in its own class."""
        module = self.module
        if training is not None and module.training != bool(training):
            module.train(bool(training))
        args, kwargs = tree.map_structure(lambda x: module._show(x) if isinstance(x, _C.Tensor) else x, (args, kwargs))
        outputs = module(*args, **kwargs)
        return tree.map_structure(lambda x: _C.as_class(x, Tensor) if isinstance(x, _C.Tensor) else x, outputs)

    def compute_output_shape(self, input_shape):
        """Return the shape of the outputs."""
        if self._output_shape is not None:
            return (input_shape[0], *self._output_shape)
        from dragon.vm.keras.core.keras_tensor import KerasTensor
        return self.compute_output_spec(KerasTensor(input_shape, dtype=self.compute_dtype)).shape

    def compute_output_spec(self, *args, **kwargs):
        """Return symbolic outputs: found by calling the module without numbers."""
        if self._output_shape is not None:
            return super().compute_output_spec(*args, **kwargs)
        from dragon.vm.keras.core.spec import compute_spec
        return compute_spec(self.call, args, kwargs)

    def get_config(self):
        """Refuse: a module of another face has no config."""
        raise NotImplementedError(
            f"Layer {self.name} holds a {type(self.module).__name__}, which no config describes: files store no "
            "code. Save the weights with `save_weights()` or `state_dict()`, and make the model by code.")

    # --- seen from modules of other faces, the module itself stands here

    @property
    def _parameters(self):
        return {name: tensor if tensor is None else adopt_variable(tensor, f"{self.name}/{name}")
                for name, tensor in self.module._parameters.items()}

    @property
    def _buffers(self):
        return {name: tensor if tensor is None else adopt_variable(tensor, f"{self.name}/{name}", False)
                for name, tensor in self.module._buffers.items()}

    @property
    def _modules(self):
        return self.module._modules

    def __getattr__(self, name):
        module = self.__dict__.get("module")
        if module is None or name.startswith("_"):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return getattr(module, name)
