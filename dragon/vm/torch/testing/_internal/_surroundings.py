"""What tests ask of the machine and set around themselves: flags, decorators that leave tests out, guards."""
import contextlib
import functools
import importlib.util
import os
import platform
import socket
import sys
import tempfile
import unittest
import warnings

from dragon.vm import torch


def _check_module_exists(name):
    """Return whether a package is installed."""
    return importlib.util.find_spec(name) is not None


IS_LINUX, IS_WINDOWS, IS_MACOS = (sys.platform == name for name in ("linux", "win32", "darwin"))
IS_PPC, IS_X86, IS_ARM64 = (platform.machine() in names for names in (
    ("ppc64le",), ("x86_64", "i386", "AMD64"), ("arm64", "aarch64")))
IS_FBCODE = IS_SANDCASTLE = IS_CI = IS_S390X = IS_JETSON = False
IS_FILESYSTEM_UTF8_ENCODING = sys.getfilesystemencoding() == "utf-8"
TEST_NUMPY, TEST_SCIPY, TEST_NUMBA, TEST_TRANSFORMERS, TEST_DILL, TEST_LIBROSA, TEST_OPT_EINSUM, TEST_FAIRSEQ = map(
    _check_module_exists, ("numpy", "scipy", "numba", "transformers", "dill", "librosa", "opt_einsum", "fairseq"))
TEST_MKL, TEST_MPS, TEST_XPU = (part.is_available() for part in (torch.backends.mkl, torch.backends.mps, torch.xpu))
TEST_ONEDNN = TEST_MKLDNN = torch.backends.mkldnn.is_available()
TEST_CUDA = TEST_ACCELERATOR = torch.cuda.is_available()
TEST_MULTIGPU = TEST_MULTIACCELERATOR = torch.cuda.device_count() > 1
TEST_HPU = TEST_CUDNN = TEST_PRIVATEUSE1 = TEST_CUDA_GRAPH = TEST_GDS = False
TEST_WITH_ROCM = TEST_WITH_TORCHDYNAMO = TEST_WITH_TORCHINDUCTOR = TEST_WITH_AOT_EAGER = TEST_WITH_CROSSREF = False
TEST_WITH_ASAN = TEST_WITH_TSAN = TEST_WITH_UBSAN = TEST_WITH_DEV_DBG_ASAN = False
TEST_WITH_SLOW, TEST_SKIP_FAST, TEST_WITH_SLOW_GRADCHECK = (
    os.environ.get(f"PYTORCH_TEST_{name}") == "1" for name in ("WITH_SLOW", "SKIP_FAST", "WITH_SLOW_GRADCHECK"))
NO_MULTIPROCESSING_SPAWN = False
NATIVE_DEVICES = ("cpu", "cuda", "xpu", "meta", "mps", "mtia", "privateuseone")
GRADCHECK_NONDET_TOL = 0.0


def _leaving_out(condition, reason):
    """Return a decorator that leaves a test out where a condition holds; it may be called with a reason of its own."""
    def decorate(fn=None, *, msg=reason):
        decorator = unittest.skipIf(condition, msg)
        return decorator if fn is None else decorator(fn)
    return decorate


slowTest = _leaving_out(not TEST_WITH_SLOW, "test is slow; run with PYTORCH_TEST_WITH_SLOW to enable test")
skipIfNoSciPy = _leaving_out(not TEST_SCIPY, "test require SciPy, but SciPy not found")
skipIfCompiledWithoutNumpy = _leaving_out(not TEST_NUMPY, "PyTorch not compiled with numpy support")
skipIfWindows = _leaving_out(IS_WINDOWS, "test doesn't currently work on the Windows stack")
skipIfRocm = skipIfXpu = skipIfMPS = skipIfHpu = skipIfCrossRef = _leaving_out(False, "")
skipIfNoLapack = _leaving_out(False, "PyTorch compiled without Lapack")
skipIfNoDill = _leaving_out(not TEST_DILL, "no dill")
skipIfNoXNNPACK = _leaving_out(True, "XNNPACK must be enabled for these tests. Please build with USE_XNNPACK=1.")
requires_cuda = unittest.skipUnless(TEST_CUDA, "Requires CUDA")


def skipIfTorchDynamo(msg="test doesn't currently work with dynamo"):
    """Return a decorator that changes nothing: tests are not traced."""
    return msg if callable(msg) else lambda fn: fn


skipIfTorchInductor = xfailIfTorchDynamo = dontGenerateOpCheckTests = skipIfTorchDynamo


def markDynamoStrictTest(cls_or_func=None, nopython=False):
    """Return what is decorated: tests are not traced."""
    return cls_or_func if cls_or_func is not None else lambda fn: fn


unMarkDynamoStrictTest = markDynamoStrictTest


def skip_but_pass_in_sandcastle_if(condition, reason):
    """Return a decorator that leaves a test out where a condition holds."""
    return unittest.skipIf(condition, reason)


def slowTestIf(condition):
    """Return `slowTest` where a condition holds."""
    return slowTest if condition else lambda fn: fn


def suppress_warnings(fn):
    """Return a function that warns of nothing."""
    @functools.wraps(fn)
    def quiet(*args, **kwargs):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return fn(*args, **kwargs)
    return quiet


@contextlib.contextmanager
def freeze_rng_state(*args, **kwargs):
    """Leave the random numbers within a `with` block as they were."""
    with torch.random.fork_rng():
        yield


@contextlib.contextmanager
def set_default_dtype(dtype):
    """Have another default dtype within a `with` block."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


@contextlib.contextmanager
def set_default_tensor_type(tensor_type):
    """Have another default class of tensors within a `with` block."""
    before = torch.get_default_dtype()
    torch.set_default_tensor_type(tensor_type)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


class DeterministicGuard:
    """Ask for deterministic algorithms, or no longer, within a `with` block."""

    def __init__(self, deterministic, *, warn_only=False, fill_uninitialized_memory=True):
        self.wanted = deterministic, warn_only, fill_uninitialized_memory

    def __enter__(self):
        import torch.utils.deterministic as memory
        self.before = (torch.are_deterministic_algorithms_enabled(),
                       torch.is_deterministic_algorithms_warn_only_enabled(), memory.fill_uninitialized_memory)
        self._set(*self.wanted)

    def __exit__(self, *_):
        self._set(*self.before)

    @staticmethod
    def _set(deterministic, warn_only, fill):
        torch.use_deterministic_algorithms(deterministic, warn_only=warn_only)
        torch.utils.deterministic.fill_uninitialized_memory = fill


@contextlib.contextmanager
def TemporaryFileName(*args, **kwargs):
    """Give the name of a file that is gone after a `with` block."""
    file = tempfile.NamedTemporaryFile(*args, **{**kwargs, "delete": False})
    try:
        file.close()
        yield file.name
    finally:
        os.unlink(file.name)


@contextlib.contextmanager
def TemporaryDirectoryName(suffix=None):
    """Give the name of a folder that is gone after a `with` block."""
    with tempfile.TemporaryDirectory(suffix=suffix) as folder:
        yield folder


def find_free_port():
    """Return the number of a port that nobody listens at."""
    with socket.socket() as found:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(("localhost", 0))
        return found.getsockname()[1]
