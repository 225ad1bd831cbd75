"""How a model shall be quantized."""
from dragon.vm.keras.core.configuration import Configured
from dragon.vm.keras.core.dtype_policies import QUANTIZATION_MODES


class QuantizationConfig(Configured):
    """Base of configurations.

    Parameters
    ----------
    weight_quantizer : Optional[Quantizer], optional
        What makes integers of weights; the layer's own by default.
    activation_quantizer : Optional[Quantizer], optional
        What makes integers of activations; none leaves them as they are.

    """

    def __init__(self, weight_quantizer=None, activation_quantizer=None):
        self.weight_quantizer, self.activation_quantizer = weight_quantizer, activation_quantizer

    @property
    def mode(self):
        """The name of the kind of quantization; subclasses have one."""
        raise NotImplementedError("Subclasses must implement this property. Do not instantiate QuantizationConfig "
                                  "directly.")

    @classmethod
    def from_config(cls, config):
        """Return the configuration that `get_config` described."""
        from dragon.vm.keras.saving.serialization import deserialize_keras_object

        return cls(**{name: deserialize_keras_object(value) for name, value in config.items()})

    @staticmethod
    def weight_quantizer_or_default(config, default):
        """Return a configuration's quantizer of weights, or a default."""
        return default if config is None or config.weight_quantizer is None else config.weight_quantizer

    @staticmethod
    def activation_quantizer_or_default(config, default):
        """Return a configuration's quantizer of activations; a default without a configuration."""
        return default if config is None else config.activation_quantizer


def _check_output(who, quantizer):
    if quantizer is not None and not hasattr(quantizer, "output_dtype"):
        raise TypeError(f"{who}: got weight_quantizer={quantizer!r}, expected a Quantizer")
    if quantizer is not None and quantizer.output_dtype != "int8":
        raise ValueError(f"{who} requires a weight_quantizer with output_dtype='int8'. "
                         f"Received: output_dtype={quantizer.output_dtype}")


class Int8QuantizationConfig(QuantizationConfig, mode="int8"):
    """Weights and activations of eight bits; arguments as `QuantizationConfig` has them."""

    def __init__(self, weight_quantizer=None, activation_quantizer="default"):
        from dragon.vm.keras.quantizers.quantizer import AbsMaxQuantizer

        super().__init__(weight_quantizer,
                         AbsMaxQuantizer() if isinstance(activation_quantizer, str) else activation_quantizer)
        _check_output("Int8QuantizationConfig", weight_quantizer)


class Int4QuantizationConfig(QuantizationConfig, mode="int4"):
    """Weights of four bits.

    Parameters
    ----------
    weight_quantizer, activation_quantizer : Optional[Quantizer], optional
        As `QuantizationConfig` has them.
    block_size : Optional[int], optional, default=128
        How many rows have a scale of their own; none or -1 for all together.

    """

    def __init__(self, weight_quantizer=None, activation_quantizer="default", block_size=128):
        super().__init__(weight_quantizer, None if isinstance(activation_quantizer, str) else activation_quantizer)
        if block_size is not None and block_size != -1 and block_size <= 0:
            raise ValueError(f"block_size must be None, -1, or a positive integer. Received: block_size={block_size}")
        self.block_size = block_size
        if (block_size or -1) > 0 and (self.weight_quantizer or self.activation_quantizer) is not None:
            raise ValueError("Int4 sub-channel quantization (block_size > 0) does not support custom quantizers. "
                             "Either set block_size to None or -1 for per-channel quantization, or remove the custom "
                             f"quantizer arguments. Received: block_size={block_size}")
        if weight_quantizer is not None and tuple(getattr(weight_quantizer, "value_range", ())) != (-8, 7):
            raise ValueError("Int4QuantizationConfig requires a weight_quantizer with value_range=(-8, 7). Received: "
                             f"value_range={getattr(weight_quantizer, 'value_range', None)} of {weight_quantizer!r}")
        _check_output("Int4QuantizationConfig", weight_quantizer)


class Float8QuantizationConfig(QuantizationConfig, mode="float8"):
    """Training with floats of eight bits."""

    def __init__(self):
        super().__init__()


def block_size_of(layer, config):
    """Return how many rows of a layer's four-bit weights have a scale of their own, or None for all together."""
    if isinstance(config, Int4QuantizationConfig):
        size = config.block_size
    else:
        size = getattr(layer._own_policy(), "block_size", None)
    return None if size == -1 else size


def resolve(mode, config):
    """Return the configuration that a mode and a configuration say together.

    Parameters
    ----------
    mode : Optional[str]
        "int8", "int4", "float8", "gptq" or "awq".
    config : Optional[QuantizationConfig]
        The configuration; that of the mode by default.

    Returns
    -------
    QuantizationConfig
        The configuration.

    """
    if isinstance(config, str):
        mode, config = config, None
    _check_mode(mode)
    if config is None:
        if mode is None:
            raise ValueError("You must provide either `mode` or `config` to `quantize`.")
        if mode in CALIBRATED:
            raise ValueError(f"For {mode.upper()}, you must pass {CALIBRATED[mode]} object in the `config` argument.")
        return MODES[mode]()
    if not isinstance(config, QuantizationConfig):
        raise ValueError("Argument `config` must be an instance of `QuantizationConfig`. Received: "
                         f"config={config} (of type {type(config)})")
    if mode is not None and config.mode != mode:
        raise ValueError(f"Contradictory arguments: mode='{mode}' but config.mode='{config.mode}'")
    _check_mode(config.mode)
    if config.mode in CALIBRATED and not isinstance(config, Calibrated):
        raise ValueError(f"Mode '{config.mode}' requires a valid `config` argument of type "
                         f"{CALIBRATED[config.mode].split()[1]}. Received: {type(config)}")
    return config


def _check_mode(mode):
    if mode is not None and mode not in QUANTIZATION_MODES:
        raise ValueError(f"Invalid quantization mode. Expected one of {QUANTIZATION_MODES}. Received: mode={mode}")


MODES = {"int8": Int8QuantizationConfig, "int4": Int4QuantizationConfig, "float8": Float8QuantizationConfig}
CALIBRATED = {"gptq": "a `GPTQConfig`", "awq": "an `AWQConfig`"}


class Calibrated(QuantizationConfig):
    """Base of configurations that want data to be quantized by."""

    def __init__(self, dataset, tokenizer, **options):
        super().__init__()
        for name in ("num_samples", "sequence_length", "num_grid_points"):
            if options.get(name, 1) <= 0:
                raise ValueError(f"{name} must be a positive integer. Received: {name}={options[name]}")
        size = options["group_size"]
        if size < -1 or size == 0:
            raise ValueError("Invalid group_size. Supported values are -1 (all together) or a positive integer, "
                             f"but got {size}.")
        self.dataset, self.tokenizer = dataset, tokenizer
        for name, value in options.items():
            setattr(self, name, value)

    def get_config(self):
        """Return the arguments that make the same configuration again, without data."""
        return {"dataset": None, "tokenizer": None}

    @classmethod
    def from_config(cls, config):
        return cls(**config)

    def dtype_policy_string(self):
        """Return the name of the dtype policy of layers that are quantized so."""
        return f"{self.mode}/{self.weight_bits}/{self.group_size}"


class GPTQConfig(Calibrated, mode="gptq"):
    """Weights of few bits by GPTQ (Frantar et al., 2022): errors are made up for by weights that follow.

    Parameters
    ----------
    weight_bits : int, optional, default=4
        2, 3, 4 or 8.
    num_samples, sequence_length : int, optional
        How much is run: 128 samples of 512.
    per_channel : bool, optional, default=True
        A scale for each channel.
    hessian_damping : float, optional, default=0.01
        What is added to the diagonal, between 0 and 1.
    symmetric, activation_order : bool, optional, default=False
        Zero in the middle; begin with what matters most.

    """

    def __init__(self, dataset, tokenizer, *, weight_bits=4, num_samples=128, per_channel=True, sequence_length=512,
                 hessian_damping=0.01, group_size=128, symmetric=False, activation_order=False,
                 quantization_layer_structure=None):
        if weight_bits not in (2, 3, 4, 8):
            raise ValueError(f"Unsupported weight_bits {weight_bits}. Supported values are 2, 3, 4, and 8. "
                             f"Received: weight_bits={weight_bits}")
        if hessian_damping < 0 or hessian_damping > 1:
            raise ValueError(f"hessian_damping must be between 0 and 1. Received: hessian_damping={hessian_damping}")
        super().__init__(dataset, tokenizer, weight_bits=weight_bits, num_samples=num_samples, per_channel=per_channel,
                         sequence_length=sequence_length, hessian_damping=hessian_damping, group_size=group_size,
                         symmetric=symmetric, activation_order=activation_order,
                         quantization_layer_structure=quantization_layer_structure)


class AWQConfig(Calibrated, mode="awq"):
    """Weights of four bits by AWQ (Lin et al., 2023): scaled by what activations are large.

    Parameters
    ----------
    weight_bits : int, optional, default=4
        Only 4.
    num_samples, sequence_length : int, optional
        How much is run: 128 samples of 512.
    num_grid_points : int, optional, default=20
        How many scales are tried.

    """

    def __init__(self, dataset, tokenizer, *, weight_bits=4, num_samples=128, sequence_length=512, group_size=128,
                 num_grid_points=20, quantization_layer_structure=None):
        if weight_bits != 4:
            raise ValueError(f"AWQ only supports 4-bit quantization. Received weight_bits={weight_bits}.")
        super().__init__(dataset, tokenizer, weight_bits=weight_bits, num_samples=num_samples,
                         sequence_length=sequence_length, group_size=group_size, num_grid_points=num_grid_points,
                         quantization_layer_structure=quantization_layer_structure)
