"""Decorators of tests that take a device: their dtypes, their tolerances, and where they are left out."""
import functools
import os
import sys
import unittest
from collections import namedtuple

from dragon.vm import torch
from dragon.vm.torch.testing._internal._devices import listed
from dragon.vm.torch.testing._internal._surroundings import NATIVE_DEVICES, TEST_MKL, TEST_ONEDNN

tol = namedtuple("tol", ["atol", "rtol"])


class dtypes:
    """Make a test for each of some dtypes, or tuples of them.

    Parameters
    ----------
    args : Union[dtype, Sequence[dtype]]
        The dtypes.
    device_type : str, optional, default="all"
        For which devices.

    """

    device_type = "all"

    def __init__(self, *args, device_type=None):
        if len(args) == 1 and isinstance(args[0], (list, tuple)) and not isinstance(args[0], torch.dtype):
            args = args[0] if type(args[0]).__name__ == "_dispatch_dtypes" else args
        self.args, self.device_type = args, device_type or type(self).device_type

    def __call__(self, fn):
        known = getattr(fn, "dtypes", {})
        if self.device_type in known:
            raise AssertionError(f"dtypes redefinition for {self.device_type}")
        fn.dtypes = {**known, self.device_type: self.args}
        return fn


def _for_device(base, name):
    """Return a decorator for one type of device."""
    return type(f"{base.__name__}If{name.upper()}", (base,), {
        "device_type": name, "__module__": __name__, "__doc__": f"`{base.__name__}` for {name} alone."})


dtypesIfCPU, dtypesIfCUDA, dtypesIfMPS, dtypesIfXPU, dtypesIfHPU, dtypesIfPRIVATEUSE1 = (
    _for_device(dtypes, name) for name in ("cpu", "cuda", "mps", "xpu", "hpu", "privateuse1"))


def _overriding(attribute, doc):
    class Override:
        def __init__(self, d):
            for dtype in d:
                if not isinstance(dtype, torch.dtype):
                    raise AssertionError(f"d has dtypes keys, got {type(dtype)}")
            self.d = d

        def __call__(self, fn):
            setattr(fn, attribute, self.d)
            return fn
    Override.__doc__ = doc
    return Override


precisionOverride = _overriding("precision_overrides", "Give a test its least absolute tolerances: {dtype: number}.")
toleranceOverride = _overriding("tolerance_overrides", "Give a test its least tolerances: {dtype: tol}.")


def _checked(check):
    """Return a decorator of tests that asks a function of the test case first."""
    def decorate(fn):
        @functools.wraps(fn)
        def run(self, *args, **kwargs):
            check(self)
            return fn(self, *args, **kwargs)
        return run
    return decorate


class skipIf:
    """Leave a test out on a type of device where a condition holds.

    Parameters
    ----------
    dep : Union[bool, str]
        The condition, or the name of the test case's attribute that tells.
    reason : str
        What is said.
    device_type : str, optional
        The type of device; all by default.

    """

    device_type = None

    def __init__(self, dep, reason, device_type=None):
        self.dep, self.reason, self.device_type = dep, reason, device_type or type(self).device_type

    def __call__(self, fn):
        def check(case):
            holds = getattr(case, self.dep, True) if isinstance(self.dep, str) else self.dep
            if holds and self.device_type in (None, case.device_type):
                raise unittest.SkipTest(self.reason)
        return _checked(check)(fn)


skipCPUIf, skipCUDAIf, skipMPSIf, skipXPUIf, skipHPUIf, skipMetaIf, skipLazyIf, skipXLAIf = (
    _for_device(skipIf, name) for name in ("cpu", "cuda", "mps", "xpu", "hpu", "meta", "lazy", "xla"))


class onlyOn:
    """Leave a test out on all types of devices but some."""

    def __init__(self, device_type):
        self.device_type = listed(device_type)

    def __call__(self, fn):
        def check(case):
            if case.device_type not in self.device_type:
                raise unittest.SkipTest(f"Only runs on {', '.join(self.device_type)}")
        return _checked(check)(fn)


onlyCPU, onlyCUDA, onlyMPS, onlyXPU, onlyHPU = map(onlyOn, ("cpu", "cuda", "mps", "xpu", "hpu"))
onlyAccelerator, onlyNativeDeviceTypes = onlyOn(("cuda", "xpu", "mps")), onlyOn(NATIVE_DEVICES)


def onlyNativeDeviceTypesAnd(devices=None):
    """Return a decorator that leaves a test out on all types of devices but PyTorch's own and some."""
    return onlyOn((*NATIVE_DEVICES, *(devices or ())))


class expectedFailure:
    """Expect a test to fail on a type of device."""

    def __init__(self, device_type, dtype=None):
        self.device_type, self.dtype = device_type, dtype

    def __call__(self, fn):
        @functools.wraps(fn)
        def run(self_, *args, **kwargs):
            if self.device_type not in (None, self_.device_type) or self.dtype not in (None, kwargs.get("dtype")):
                return fn(self_, *args, **kwargs)
            try:
                fn(self_, *args, **kwargs)
            except Exception:
                return None
            self_.fail("expected test to fail, but it passed")
        return run


expectedFailureCPU, expectedFailureCUDA, expectedFailureMPS, expectedFailureXPU, expectedFailureMeta = map(
    expectedFailure, ("cpu", "cuda", "mps", "xpu", "meta"))


class deviceCountAtLeast:
    """Give a test a list of devices, of which there must be some number."""

    def __init__(self, num_required_devices):
        self.num_required_devices = num_required_devices

    def __call__(self, fn):
        fn.num_required_devices = self.num_required_devices
        return fn


skipCPUIfNoLapack = skipCPUIfNoFFT = skipCUDAIfNoMagma = skipCUDAIfNoCusolver = skipCUDAIf(False, "")
skipCUDAIfNoMagmaAndNoCusolver = skipCUDAIfNoCudnn = skipCUDAIfNotRocm = skipCUDAIfRocm = skipCUDAIfNoLapack = (
    skipCUDAIfNoMagma)
skipCPUIfNoMkl = skipCPUIf(not TEST_MKL, "PyTorch is built without MKL support")
skipCPUIfNoMkldnn = skipCPUIf(not TEST_ONEDNN, "PyTorch is built without mkldnn support")
skipMeta, skipXLA, skipMPS, skipXPU = (kind(True, f"test doesn't work with {kind.device_type}")
                                       for kind in (skipMetaIf, skipXLAIf, skipMPSIf, skipXPUIf))


def largeTensorTest(size, device=None, inductor=False):
    """Return a decorator that leaves a test out where so many bytes, or "12GB", are not there."""
    units = {"GB": 2 ** 30, "MB": 2 ** 20, "KB": 2 ** 10}
    if isinstance(size, str):
        size = float(size[:-2]) * units[size[-2:].upper()]

    def check(case):
        pages = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if sys.platform == "linux" else size
        if pages < size:
            raise unittest.SkipTest(f"Insufficient {device or case.device_type} memory")
    return _checked(check)
