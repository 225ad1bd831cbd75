"""A linear layer of a weight of 8 bits."""
from dragon.vm import torch
from dragon.vm.torch.ao.nn.quantized.dynamic.modules._products import Product, quantized_weight
from dragon.vm.torch.ao.quantization.qconfig import default_dynamic_qconfig
from dragon.vm.torch.nn.modules import linear as floats
from dragon.vm.torch.nn.modules.module import Module


class LinearPackedParams(Module):
    """A weight and a bias.

    Parameters
    ----------
    dtype : dtype, optional, default=torch.qint8
        What the weight is: `torch.qint8` or `torch.float16`.

    """

    _version = 3

    def __init__(self, dtype=torch.qint8):
        super().__init__()
        if dtype not in (torch.qint8, torch.float16):
            raise RuntimeError(f"Linear: got {dtype}, expected torch.qint8 or torch.float16: Unsupported dtype on "
                               "dynamic quantized linear!")
        self.dtype = dtype
        weight = torch.zeros(1, 1)
        if dtype == torch.qint8:
            weight = torch.quantize_per_tensor(weight, 1.0, 0, dtype)
        self.set_weight_bias(weight, None)

    def set_weight_bias(self, weight, bias):
        """Take another weight and bias."""
        if weight.is_quantized != (self.dtype == torch.qint8):
            raise RuntimeError(f"Linear: got a weight of {weight.dtype}, expected {self.dtype}")
        self._product = Product(weight, bias)

    def _weight_bias(self):
        return self._product.weight, self._product.bias

    def forward(self, x):
        """Return what came."""
        return x

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "dtype"] = self.dtype
        destination[prefix + "_packed_params"] = self._weight_bias()

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, *rest):
        version = local_metadata.get("version", None)
        if version is None or version < 3:
            raise NotImplementedError(f"Linear: got a state of version {version}, expected 3")
        for name in ("dtype", "_packed_params"):
            if prefix + name not in state_dict:
                missing_keys.append(prefix + name)
                return
        self.dtype = state_dict.pop(prefix + "dtype")
        self.set_weight_bias(*state_dict.pop(prefix + "_packed_params"))
        super()._load_from_state_dict(state_dict, prefix, local_metadata, False, missing_keys, *rest)

    def __repr__(self):
        return repr(self._weight_bias())


class Linear(Module):
    """A linear layer of a weight of 8 bits, whose input is quantized at each call.

    Parameters
    ----------
    in_features, out_features : int
        How many inputs and results there are.
    bias_ : bool, optional, default=True
        Whether a bias is added.
    dtype : dtype, optional, default=torch.qint8
        What the weight is: `torch.qint8` or `torch.float16`.

    """

    _version, version = 4, 4

    def __init__(self, in_features, out_features, bias_=True, dtype=torch.qint8):
        super().__init__()
        self.in_features, self.out_features, self.scale, self.zero_point = in_features, out_features, 1.0, 0
        self._packed_params = LinearPackedParams(dtype)
        weight = torch.zeros(out_features, in_features)
        if dtype == torch.qint8:
            weight = torch.quantize_per_tensor(weight, 1.0, 0, dtype)
        self.set_weight_bias(weight, torch.zeros(out_features) if bias_ else None)

    def forward(self, x):
        """Return the products, and the bias with them."""
        if x.shape[-1:] != (self.in_features,):
            raise RuntimeError(f"DynamicQuantizedLinear: got an input of shape {tuple(x.shape)}, expected "
                               f"(..., {self.in_features})")
        return self._packed_params._product(x).to(x.dtype)

    def _get_name(self):
        return "DynamicQuantizedLinear"

    def extra_repr(self):
        """Return what `repr` tells of it."""
        told = f"in_features={self.in_features}, out_features={self.out_features}, dtype={self._packed_params.dtype}"
        return told + (f", qscheme={self.weight().qscheme()}" if self._packed_params.dtype == torch.qint8 else "")

    def __repr__(self):
        return f"{self._get_name()}({self.extra_repr()})"

    def _weight_bias(self):
        return self._packed_params._weight_bias()

    def weight(self):
        """Return the weight."""
        return self._weight_bias()[0]

    def bias(self):
        """Return the bias, or None."""
        return self._weight_bias()[1]

    def set_weight_bias(self, w, b):
        """Take another weight and bias."""
        self._packed_params.set_weight_bias(w, b)

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "scale"] = torch.tensor(self.scale)
        destination[prefix + "zero_point"] = torch.tensor(self.zero_point)

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, *rest):
        self.scale = float(state_dict.pop(prefix + "scale"))
        self.zero_point = int(state_dict.pop(prefix + "zero_point"))
        super()._load_from_state_dict(state_dict, prefix, local_metadata, False, missing_keys, *rest)

    @classmethod
    def from_float(cls, mod, use_precomputed_fake_quant=False):
        """Return a layer of the weights of one of floats.

        Parameters
        ----------
        mod : Linear
            It has a `qconfig`.
        use_precomputed_fake_quant : bool, optional, default=False
            Whether the module's own scales serve, which layers of floats have none of.

        Returns
        -------
        Linear
            The layer.

        """
        if type(mod) not in (floats.Linear, floats.NonDynamicallyQuantizableLinear):
            raise AssertionError(f"Linear.from_float: got {type(mod).__name__}. nn.quantized.dynamic.Linear.from_float "
                                 "only works for one of [nn.Linear, nn.NonDynamicallyQuantizableLinear]")
        if not hasattr(mod, "qconfig"):
            raise AssertionError("Input float module must have qconfig defined")
        chosen = mod.qconfig if mod.qconfig is not None and mod.qconfig.weight is not None else default_dynamic_qconfig
        observer = chosen.weight()
        made = cls(mod.in_features, mod.out_features, dtype=observer.dtype)
        made.set_weight_bias(quantized_weight(mod.weight, observer, "Linear.from_float"), mod.bias)
        return made
