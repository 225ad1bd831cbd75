"""`tf.sysconfig`: how the engine was built."""
from dragon import _C as _C
from dragon.vm.tensorflow.core.missing import module_getattr as _module_getattr


def get_build_info():
    """Return what the build contains, as a dictionary."""
    return {"is_cuda_build": _C.device_count("cuda") > 0, "is_rocm_build": False, "is_tensorrt_build": False}


def get_lib():
    """Return the folder of the engine's library."""
    return _C.library_folder()


__getattr__ = _module_getattr("tensorflow.sysconfig", globals())
