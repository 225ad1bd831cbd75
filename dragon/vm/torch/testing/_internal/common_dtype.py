"""Families of dtypes, as tests name them: `torch.testing._internal.common_dtype`."""
from dragon.vm import torch


class _dispatch_dtypes(tuple):
    """Some dtypes; more may be added."""

    __slots__ = ()

    def __add__(self, other):
        return _dispatch_dtypes(tuple.__add__(self, tuple(other)))


def _check(dtypes):
    for dtype in dtypes:
        if not isinstance(dtype, torch.dtype):
            raise AssertionError(f"Expected dtype to be torch.dtype, got {type(dtype)}")
    return _dispatch_dtypes(dtypes)


FLOATING = _check((torch.float32, torch.float64))
COMPLEX = _check((torch.complex64, torch.complex128))
INTEGRAL = _check((torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64))
FAMILIES = {
    "empty_types": (), "floating_types": FLOATING, "floating_types_and_half": FLOATING + (torch.half,),
    "floating_and_complex_types": FLOATING + COMPLEX, "double_types": (torch.float64, torch.complex128),
    "integral_types": INTEGRAL, "all_types": FLOATING + INTEGRAL, "complex_types": COMPLEX,
    "all_types_and_complex": FLOATING + INTEGRAL + COMPLEX, "all_types_and_half": FLOATING + INTEGRAL + (torch.half,)}


def _family(name, dtypes):
    dtypes = _check(dtypes)

    def family():
        return dtypes

    def family_and(*dtypes):
        return family() + _check(dtypes)
    words = name.replace("_", " ")
    for function, ending, more in ((family, "", ""), (family_and, "_and", ", and more")):
        function.__name__ = function.__qualname__ = name + ending
        function.__doc__ = f"Return the {words}{more}."
    globals().update({name: family, name + "_and": family_and})


for _name, _dtypes in FAMILIES.items():
    _family(_name, _dtypes)


def custom_types(*dtypes):
    """Return some dtypes."""
    return _check(dtypes)


def get_all_int_dtypes():
    """Return the integers' dtypes."""
    return list(INTEGRAL)


def get_all_complex_dtypes(include_complex32=False):
    """Return the complex dtypes."""
    return [torch.complex32, *COMPLEX] if include_complex32 else list(COMPLEX)


def get_all_fp_dtypes(include_half=True, include_bfloat16=True):
    """Return the floating dtypes."""
    return [*FLOATING, *[torch.float16] * include_half, *[torch.bfloat16] * include_bfloat16]


def get_all_math_dtypes(device):
    """Return the dtypes that all arithmetic of a device takes."""
    return [*INTEGRAL, *get_all_fp_dtypes(device.startswith("cuda"), False), *COMPLEX]


def get_all_dtypes(include_half=True, include_bfloat16=True, include_bool=True, include_complex=True,
                   include_complex32=False, include_qint=False):
    """Return all dtypes but those that are left out."""
    if include_qint:
        raise NotImplementedError("get_all_dtypes: got include_qint=True, expected False: no tensor of Dragon's is of "
                                  "a quantized dtype")
    return [*INTEGRAL, *get_all_fp_dtypes(include_half, include_bfloat16), *[torch.bool] * include_bool,
            *(get_all_complex_dtypes(include_complex32) if include_complex else ())]


float_to_corresponding_complex_type_map = {
    torch.float16: torch.complex32, torch.float32: torch.complex64, torch.float64: torch.complex128}
