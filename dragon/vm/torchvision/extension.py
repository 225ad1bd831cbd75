"""Whether torchvision's own operators are there: Dragon's always are, so programs that ask may go on."""
_HAS_OPS = True


def _has_ops():
    """Return whether the operators are there."""
    return _HAS_OPS


def _assert_has_ops():
    """Raise RuntimeError unless the operators are there, which they are."""


def _check_cuda_version():
    """Return the version of CUDA that the operators were compiled for; -1, for they are not compiled by themselves."""
    return -1


def _load_library(lib_name):
    """Return whether a library of operators can be used: their own, "_C", and that of images, "image"."""
    return lib_name in ("_C", "image")
