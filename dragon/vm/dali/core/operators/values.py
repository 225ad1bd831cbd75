"""How arguments are read: numbers for all samples, arrays for one, short forms for several axes; and how types end."""
import numpy as np

from dragon.vm.dali.core.kinds import to_numpy_type
from dragon.vm.dali.core.refusals import got


def number(value):
    """Return an argument that is one number."""
    array = np.asarray(value)
    if array.size != 1:
        raise ValueError(got("an argument", f"{array.size} values", "one"))
    return array.ravel()[0].item()


def vector(value, count=None, name="an argument"):
    """Return an argument as a row of float64; one number stands for all of `count`."""
    row = np.asarray(value, np.float64).ravel()
    if count is not None and row.size == 1:
        row = np.repeat(row, count)
    if count is not None and row.size != count:
        raise ValueError(got(name, f"{row.size} values", f"1 or {count}"))
    return row


def rounded(array):
    """Return numbers rounded to whole ones, halves away from zero as C does."""
    return np.trunc(array + np.copysign(0.5, array))


def convert(array, kind):
    """Return numbers in a type of DALI's or NumPy's: rounded, and held within what it can say.

    Parameters
    ----------
    array : numpy.ndarray
        The numbers.
    kind : Union[DALIDataType, numpy.dtype]
        The type.

    """
    dtype = kind if isinstance(kind, np.dtype) else np.dtype(to_numpy_type(kind))
    if array.dtype == dtype:
        return array
    if dtype == np.bool_:
        return array != 0
    if dtype.kind in "iu" and array.dtype.kind == "f":
        info = np.iinfo(dtype)
        if dtype.itemsize < 4 and dtype.kind == "u" and array.dtype.itemsize > 2:  # in fewer passes; NaN becomes 0
            held = np.fmin(np.fmax(array, 0), info.max)
            held += 0.5
            return held.astype(dtype)
        # What is no number is what the processor makes of it: 0, or the first of the types that it knows.
        held = np.clip(rounded(np.where(np.isnan(array), info.min if dtype.itemsize > 3 else 0, array)), info.min,
                       info.max)
        if dtype.itemsize < 4:
            return held.astype(dtype)
        top = held >= float(info.max)
        return np.where(top, info.max, np.where(top, 0, held).astype(dtype)).astype(dtype)
    if dtype.kind in "iu" and array.dtype.kind in "iu":
        info, own = np.iinfo(dtype), np.iinfo(array.dtype)
        return np.clip(array, max(info.min, own.min), min(info.max, own.max)).astype(dtype)
    if dtype == np.float16 and array.dtype.kind in "iuf":
        with np.errstate(over="ignore"):
            return array.astype(dtype)
    return array.astype(dtype)


def kind_or(kind, array):
    """Return the type that is asked for, or that which an array has."""
    return array.dtype if kind is None else np.dtype(to_numpy_type(kind))


def axes_of(layout, ndim, axes=None, axis_names=None, default=None):
    """Return the axes that are meant, by number or by the letters of a layout."""
    if axis_names is not None:
        places = [layout.find(name) for name in axis_names]
        if -1 in places:
            raise ValueError(got("axis_names", axis_names, f"letters of the layout {layout!r}"))
        return places
    if axes is None:
        return list(range(ndim)) if default is None else list(default)
    axes = [int(axis) for axis in np.ravel(axes)]
    for axis in axes:
        if not -ndim <= axis < ndim:
            raise ValueError(got("axes", f"axis {axis}", f"{-ndim} to {ndim - 1}"))
    return [axis % ndim for axis in axes]


def spatial(layout, ndim, who):
    """Return the axes of depth, height and width, and that of channels or None."""
    if not layout:
        layout = {2: "HW", 3: "HWC", 4: "FHWC"}.get(ndim, "")
    if len(layout) != ndim:
        raise ValueError(got(who, f"layout {layout!r} for {ndim} axes", "a letter for each axis"))
    axes = [place for place, letter in enumerate(layout) if letter in "DHW"]
    if not axes or any(letter not in "FNDHWC" for letter in layout):
        raise ValueError(got(who, f"layout {layout!r}", "one of pictures, as HWC, CHW, FHWC or DHWC"))
    return axes, layout.find("C") if "C" in layout else None
