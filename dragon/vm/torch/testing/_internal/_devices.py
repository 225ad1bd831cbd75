"""Classes of tests for each device, made of one whose tests take a device."""
import functools
import os

from dragon.vm import torch
from dragon.vm.torch.testing._internal._cases import TestCase
from dragon.vm.torch.testing._internal._parametrized import compose_parametrize_fns, dtype_name, with_arguments
from dragon.vm.torch.testing._internal._surroundings import TEST_CUDA


class DeviceTypeTestBase(TestCase):
    """The base of the classes that a class of tests becomes, one for each device."""

    device_type = "generic_device_type"
    precision = property(lambda self: vars(self).get("_for_test", {}).get("atol", self._precision),
                         lambda self, value: setattr(self, "_precision", value),
                         doc="float: the least absolute tolerance, the test's own if it has one.")
    rel_tol = property(lambda self: vars(self).get("_for_test", {}).get("rtol", self._rel_tol),
                       lambda self, value: setattr(self, "_rel_tol", value),
                       doc="float: the least relative tolerance, the test's own if it has one.")

    @classmethod
    def get_primary_device(cls):
        """Return the first device of the type."""
        return cls.device_type

    @classmethod
    def get_all_devices(cls):
        """Return the devices of the type."""
        return [cls.get_primary_device()]

    @classmethod
    def _init_and_get_primary_device(cls):
        return cls.get_primary_device()

    @classmethod
    def instantiate_test(cls, name, test, *, generic_cls=None):
        """Add a test, once for each of its dtypes and values."""
        for one, ending, arguments, decorators in _variants(test, generic_cls, cls):
            full = "_".join(filter(None, (name, ending if not ending.startswith("_") else ending[1:])))
            for decorator in decorators(arguments):
                one = decorator(one)
            if hasattr(cls, full):
                raise AssertionError(f"Redefinition of test {full}")
            setattr(cls, full, _on_device(one, arguments, cls))


class CPUTestBase(DeviceTypeTestBase):
    """Tests on the CPU."""

    device_type = "cpu"


class CUDATestBase(DeviceTypeTestBase):
    """Tests on CUDA's devices."""

    device_type = "cuda"

    @classmethod
    def get_primary_device(cls):
        """Return the first device."""
        return "cuda:0"

    @classmethod
    def get_all_devices(cls):
        """Return all devices."""
        return [f"cuda:{place}" for place in range(torch.cuda.device_count())]


def _dtypes_of(test, device_type):
    """Return the dtypes of a test on a type of device, None where it has none."""
    known = getattr(test, "dtypes", None)
    return None if known is None else known.get(device_type, known.get("all"))


def _dtype_variants(test, generic_cls, device_cls):
    for chosen in _dtypes_of(test, device_cls.device_type):
        several = isinstance(chosen, (list, tuple))
        ending = "_".join(map(dtype_name, chosen)) if several else dtype_name(chosen)
        yield test, ending, {"dtypes" if several else "dtype": chosen}, lambda _: []


def _variants(test, generic_cls, device_cls):
    """Yield (test, the end of its name, its arguments, decorators)."""
    makers = [getattr(test, "parametrize_fn", None)]
    makers += [_dtype_variants] if _dtypes_of(test, device_cls.device_type) is not None else []
    makers = [maker for maker in makers if maker is not None]
    device = device_cls.device_type
    if not makers:
        yield test, device, {}, lambda _: []
        return
    make = makers[0] if len(makers) == 1 else compose_parametrize_fns(makers[1], makers[0])
    for one, ending, arguments, decorators in make(test, generic_cls, device_cls):
        # The device stands before the dtype, as in "test_add_x_1_cpu_float32".
        dtype = arguments.get("dtype", arguments.get("dtypes"))
        words = [] if dtype is None else [dtype] if isinstance(dtype, torch.dtype) else list(dtype)
        last = "_".join(map(dtype_name, words))
        if last and ending.endswith(last):
            ending = "_".join(filter(None, (ending[:-len(last)].rstrip("_"), device, last)))
        else:
            ending = "_".join(filter(None, (ending, device)))
        yield one, ending, arguments, decorators


def _on_device(test, arguments, cls):
    """Return a test with its device, its values and its tolerances."""
    devices = getattr(test, "num_required_devices", 0)
    dtype = arguments.get("dtype")

    def run(self, **values):
        if devices and len(cls.get_all_devices()) < devices:
            self.skipTest(f"fewer than {devices} devices detected")
        override = getattr(test, "tolerance_overrides", {}).get(dtype)
        found = {"atol": override.atol, "rtol": override.rtol} if override else {}
        if dtype in getattr(test, "precision_overrides", {}):
            found["atol"] = test.precision_overrides[dtype]
        self._for_test = found
        return test(self, cls.get_all_devices() if devices else cls.get_primary_device(), **values)
    return with_arguments(functools.wraps(test)(run), arguments)


def get_device_type_test_bases():
    """Return the bases for the devices that there are."""
    return [CPUTestBase, *[CUDATestBase] * TEST_CUDA]


device_type_test_bases = get_device_type_test_bases()


def listed(devices):
    return None if devices is None else [devices] if isinstance(devices, str) else list(devices)


def filter_desired_device_types(device_type_test_bases, except_for=None, only_for=None):
    """Return the bases for some devices only, or without some."""
    except_for, only_for = listed(except_for), listed(only_for)
    if except_for and only_for and set(except_for) & set(only_for):
        raise AssertionError("same device cannot appear in except_for and only_for")
    return [base for base in device_type_test_bases if base.device_type not in (except_for or ())
            and (not only_for or base.device_type in only_for)]


def instantiate_device_type_tests(generic_test_class, scope, except_for=None, only_for=None, include_lazy=False,
                                  allow_mps=False, allow_xpu=False, allow_hpu=False):
    """Make a class of tests for each device, in place of one whose tests take a device.

    Parameters
    ----------
    generic_test_class : type
        The class of tests.
    scope : dict
        Where the classes go: the globals of the tests' file.
    except_for, only_for : Union[str, Sequence[str]], optional
        Types of devices.
    include_lazy, allow_mps, allow_xpu, allow_hpu : bool, optional, default=False
        Accepted: there are no such devices.

    """
    scope.pop(generic_test_class.__name__, None)
    empty = type(generic_test_class.__name__, generic_test_class.__bases__, {})
    written = set(vars(generic_test_class)) - set(vars(empty))
    bases = filter_desired_device_types(device_type_test_bases, except_for, only_for)
    wanted = os.environ.get("PYTORCH_TESTING_DEVICE_ONLY_FOR")
    for base in filter_desired_device_types(bases, None, wanted.split(",") if wanted else None):
        name = generic_test_class.__name__ + base.device_type.upper()
        made = type(name, (base, *generic_test_class.__bases__), {
            "__module__": generic_test_class.__module__, "__doc__": generic_test_class.__doc__})
        for attribute, value in vars(generic_test_class).items():
            if attribute in written and attribute.startswith("test"):
                made.instantiate_test(attribute, value, generic_cls=generic_test_class)
            elif attribute in written and attribute not in ("__dict__", "__weakref__", "__module__", "__doc__"):
                setattr(made, attribute, value)
        scope[name] = made


def get_all_device_types():
    """Return the types of the devices that there are."""
    return ["cpu", *["cuda"] * TEST_CUDA]
