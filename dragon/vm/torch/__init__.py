"""PyTorch's API on Dragon's engine: `from dragon.vm import torch`, or `dragon run script.py` for scripts."""
import sys as _sys
from math import e, inf, nan, pi

from dragon.core.random import default_generator as _default_generator
from dragon.vm.guest import lookup as _lookup
from dragon.vm.torch.core.device import device, get_default_device, set_default_device
from dragon.vm.torch.core.dtypes import NAMES as _dtypes, dtype
from dragon.vm.torch.core.layout import (channels_last, channels_last_3d, contiguous_format, jagged, layout,
                                         memory_format, per_channel_affine, per_channel_affine_float_qparams,
                                         per_channel_symmetric, per_tensor_affine, per_tensor_symmetric,
                                         preserve_format, qscheme, sparse_bsc, sparse_bsr, sparse_coo, sparse_csc,
                                         sparse_csr, strided)
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.core.register import FUNCTIONS as _functions
from dragon.vm.torch.core.functions import conversion, creation, history, random as _random
from dragon.vm.torch.core.functions import (beside as _beside, control as _control, convolution as _convolution,
                                            hashing as _hashing, kernels as _kernels, logarithms as _logarithms,
                                            native as _native, spectral as _spectral)
from dragon.vm.torch.core.functions import (foreach as _foreach, former as _former, index as _index, matrix as _matrix,
                                            pointwise as _pointwise, properties as _properties,
                                            reduction as _reduction, sampling as _sampling, settings as _settings,
                                            shape as _shape, sobol as _sobol)
from dragon.vm.torch.core import printing as _printing
from dragon.vm.torch.core.legacy import CLASSES as _old_classes, set_default_tensor_type
from dragon.vm.torch.core.numbers import finfo, iinfo
from dragon.vm.torch.autograd.anomaly_mode import (is_anomaly_check_nan_enabled, is_anomaly_enabled,
                                                   set_anomaly_enabled)
from dragon.vm.torch.autograd.grad_mode import (enable_grad, inference_mode, is_inference_mode_enabled, no_grad,
                                                set_grad_enabled)
from dragon.vm.torch import autograd
from dragon.vm.torch.core.functions import pickling as _pickling
from dragon.vm.torch.storage import CLASSES as _old_storages, FILES as _files, TypedStorage, UntypedStorage
from dragon.vm.torch.amp.autocast_mode import NAMES as _autocast_names
from dragon.vm.torch.amp.grad_scaler import GradScaler
from dragon.vm.torch.core.sparse import face as _sparse_face
from dragon.vm.torch.core.nested import face as _nested_face
from dragon.vm.torch.core.quantized import face as _quantized_face
from dragon.vm.torch.core.absent import install as _install_absent
from dragon.vm.torch.core.attach import attach as _attach
from dragon.vm.torch.core.capturing import register as _register
from dragon.vm.torch.core.functions.random import Generator
from dragon.vm.torch.core.known.telling import adopt as _adopt
from dragon.vm.torch.core.nvidia import settings as _settings_of_memory
from dragon.vm.torch.nn.modules.module import COMPILER as _compiler

_adopt()
_attach()
_settings_of_memory.apply_environment()
_install_absent()
_register()
globals().update(_dtypes)
globals().update(_functions)
globals().update(_autocast_names)
globals().update(_old_classes)
globals().update(_old_storages)
for _class in (Generator, Size, Tensor, device, dtype, finfo, iinfo, layout, memory_format, qscheme):
    _class.__module__ = __name__  # where users know it from, and pickles look for it
newaxis = None
has_lapack = has_openmp = has_spectral = True
has_mkl = False  # OpenBLAS and oneDNN stand in its place
torch = _sys.modules[__name__]  # PyTorch has itself as a name, and libraries write `from torch import torch`
default_generator = _default_generator()
from dragon.vm.torch.torch_version import __version__  # noqa: E402
# Imported when first asked for, as modules are, so that `import torch` stays quick.
__getattr__, __dir__ = _lookup(globals(), {
    ".cpu": "Stream Event", ".serialization": "save load", "._functorch.apis": "vmap", ".compiler": "compile",
    ".core.files.records": "PyTorchFileReader", ".jit": "ScriptModule ScriptFunction fork wait", ".futures": "Future",
    ".core.exporting.schemas": "parse_schema",
    ".core.overrides": "DisableTorchFunctionSubclass DisableTorchFunction",
    "._C": "TensorType"})


def thread_safe_generator():
    """Return the generator of a loader's worker, if it is a thread; None elsewhere, for the default one."""
    return torch.random.thread_safe_generator()


def set_vital(*args):
    """Warn: nothing is measured by this name, in PyTorch either."""
    from dragon.core import warnings
    warnings.warn("'set_vital' is deprecated, please do not call")


# Storages are pickled as files are written, and modules compile themselves: both stand below what they ask for.
_files.append(lambda: torch.serialization)
_compiler.append(lambda: torch.compile)
