"""Which libraries stand behind operators, and their switches: `torch.backends`."""
from dragon.vm.torch.core.missing import module_getattr

fp32_precision = "none"
_SUBMODULES = frozenset("cpu cuda cudnn cusparselt kleidiai mha miopen mkl mkldnn mps nnpack openmp opt_einsum "
                        "quantized".split())


def flags_frozen():
    """Return False: switches can be set at any time."""
    return False


def disable_global_flags():
    """Do nothing: Dragon's switches are never frozen."""


__getattr__ = module_getattr("torch.backends", globals(), _SUBMODULES)
