"""The version of PyTorch that this behaves as, and the toolkits it was built with."""

__version__ = "2.13.0"
debug = False
# The versions of toolkits, None where the CPU is all there is.
cuda = hip = rocm = xpu = None
git_version = "unknown"
