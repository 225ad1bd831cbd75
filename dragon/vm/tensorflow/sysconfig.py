"""`tf.sysconfig`: how the engine was built."""
from dragon.core import config as _config


def get_build_info():
    """Return what the build contains, as a dictionary."""
    return {"is_cuda_build": _config.device_count("cuda") > 0, "is_rocm_build": False, "is_tensorrt_build": False}


def get_lib():
    """Return the folder of the engine's library."""
    return _config.library_folder()
