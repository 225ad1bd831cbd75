"""`tf.test`: unit tests with comparisons of tensors, and what the build can do."""
from dragon.core import config as _config
from dragon.vm.guest import lookup as _lookup


def is_built_with_cuda():
    """Return whether the engine knows GPUs of NVIDIA here."""
    return _config.device_count("cuda") > 0


is_built_with_gpu_support = is_built_with_cuda


def is_built_with_rocm():
    """Return False."""
    return False


def is_built_with_xla():
    """Return False: graphs are optimised by the engine itself."""
    return False


def is_gpu_available(cuda_only=False, min_cuda_compute_capability=None):
    """Return whether there is a GPU."""
    return _config.device_count("cuda") > 0


def gpu_device_name():
    """Return the first GPU's name, or an empty text."""
    return "/device:GPU:0" if is_gpu_available() else ""


def main(argv=None):
    """Run the unit tests of the program."""
    import unittest
    unittest.main(argv=argv)


__getattr__, __dir__ = _lookup(globals(), {
    ".benchmark": "Benchmark disable_with_predicate is_cpu_target_available with_eager_op_as_function",
    ".case": "TestCase compute_gradient",
    "core.servers.server": "create_local_cluster",
    "core.graph_claims": "assert_equal_graph_def benchmark_config"})
