"""The base of the transforms of the second version: any structure in, the same structure out."""
import enum

from dragon.vm import torch
from dragon.vm.torch.nn.modules._applied import Keeping
from dragon.vm.torch.utils._pytree import tree_flatten, tree_unflatten
from dragon.vm.torchvision import transforms as _transforms, tv_tensors
from dragon.vm.torchvision._pillow import Image
from dragon.vm.torchvision.transforms.v2._utils import (
    _get_fill, _setup_fill_arg, check_type, has_any, is_pure_tensor)
from dragon.vm.torchvision.transforms.v2.functional._utils import _get_kernel, check_interpolation

_PACKAGE = __name__.rpartition(".")[0]


class Transform(Keeping):
    """A transform of what is in a structure; subclasses say how in `transform`, and draw in `make_params`.

    Most are one function: `_function`, which is given by name what is drawn, and the attributes in `_options`.
    """

    _transformed_types = (torch.Tensor, Image.Image)
    _v1_transform_cls = None
    _function, _options = None, ()

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        # The functions that draw in the first version, where a class has the same name, stay within reach.
        if cls.__module__.startswith(_PACKAGE):
            first = getattr(_transforms, cls.__name__, None)
            cls._v1_transform_cls = first if first is not None and issubclass(first, torch.nn.Module) else None
        if hasattr(cls._v1_transform_cls, "get_params"):
            cls.get_params = staticmethod(cls._v1_transform_cls.get_params)

    def _extract_params_for_v1_transform(self):
        """Return the arguments that make the transform of the first version that does the same."""
        params = {name: value for name, value in self.__dict__.items()
                  if not name.startswith("_") and name != "training"}
        if isinstance(params.get("interpolation"), str):
            params["interpolation"] = check_interpolation(params["interpolation"])
        return params

    def _scalar_fill(self, params):
        """Raise ValueError unless a fill is one number, or none at all; the first version's margins have no others."""
        if params["fill"] is not None and not isinstance(params["fill"], (int, float)):
            raise ValueError(f"{type(self).__name__}() can only be scripted for a scalar `fill`, but got {self.fill}.")
        return params

    def __prepare_scriptable__(self):
        """Return what is scripted in this one's place: the transform of the first version."""
        if self._v1_transform_cls is None:
            raise RuntimeError(
                f"Transform {type(self).__name__} cannot be JIT scripted. torchscript is only supported for backward "
                "compatibility with transforms which are already in torchvision.transforms. For torchscript support "
                "(on tensors only), you can use the functional API instead.")
        return self._v1_transform_cls(**self._extract_params_for_v1_transform())

    def check_inputs(self, flat_inputs):
        """Raise for inputs that this transform does not take."""

    def make_params(self, flat_inputs):
        """Return what is drawn once for all inputs."""
        return {}

    def _call_kernel(self, functional, inpt, *args, **kwargs):
        return _get_kernel(functional, type(inpt), allow_passthrough=True)(inpt, *args, **kwargs)

    def transform(self, inpt, params):
        """Return one input, transformed."""
        if type(self)._function is None:
            raise NotImplementedError(f"{type(self).__name__}: has no transform")
        options = {name: getattr(self, name) for name in self._options}
        if "fill" in options:
            options["fill"] = _get_fill(self._fill, type(inpt))
        return self._call_kernel(type(self)._function, inpt, **params, **options)

    def forward(self, *inputs):
        flat, spec = tree_flatten(inputs if len(inputs) > 1 else inputs[0])
        self.check_inputs(flat)
        return self._transform_flat(flat, spec)

    def _transform_flat(self, flat, spec):
        needed = self._needs_transform_list(flat)
        params = self.make_params([inpt for inpt, needs in zip(flat, needed) if needs])
        return tree_unflatten([self.transform(inpt, params) if needs else inpt for inpt, needs in zip(flat, needed)],
                              spec)

    def _needs_transform_list(self, flat_inputs):
        # A plain tensor counts as an image only if it is the first and nothing else is one.
        first = not has_any(flat_inputs, tv_tensors.Image, tv_tensors.Video, Image.Image)
        needed = []
        for inpt in flat_inputs:
            needs = check_type(inpt, self._transformed_types)
            if needs and is_pure_tensor(inpt):
                needs, first = first, False
            needed.append(needs)
        return needed

    def extra_repr(self):
        return ", ".join(f"{name}={value}" for name, value in self.__dict__.items()
                         if not name.startswith("_") and name != "training"
                         and isinstance(value, (bool, int, float, str, tuple, list, enum.Enum)))

    def _hold_fill(self, fill):
        """Note a fill, and what it is for each class of input."""
        self.fill = fill
        self._fill = _setup_fill_arg(fill)


class _RandomApplyTransform(Transform, takes="p=0.5"):
    def _settle(self):
        if not 0.0 <= self.p <= 1.0:
            raise ValueError("`p` should be a floating point value in the interval [0.0, 1.0].")

    def forward(self, *inputs):
        inputs = inputs if len(inputs) > 1 else inputs[0]
        flat, spec = tree_flatten(inputs)
        self.check_inputs(flat)
        return inputs if torch.rand(1) >= self.p else self._transform_flat(flat, spec)
