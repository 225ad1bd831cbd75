"""`tf.sysconfig`: how the engine was built."""
from dragon import _C as _C


def get_build_info():
    """Return what the build contains, as a dictionary."""
    return {"is_cuda_build": _C.device_count("cuda") > 0, "is_rocm_build": False, "is_tensorrt_build": False}


def get_lib():
    """Return the folder of the engine's library."""
    return _C.library_folder()
