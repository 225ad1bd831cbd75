"""Numbers brought to a mean and a spread: with given ones, or with their own."""
import functools

import numpy as np

from dragon.vm.dali.core.kinds import FLOAT, to_numpy_type
from dragon.vm.dali.core.operators.pictures import write
from dragon.vm.dali.core.operators.regions import cut, window
from dragon.vm.dali.core.operators.values import axes_of, convert, number, spatial
from dragon.vm.dali.core.refusals import got
from dragon.vm.dali.core.schema import Laid, operator


@operator()
def crop_mirror_normalize(data, *, crop=None, crop_h=0.0, crop_w=0.0, crop_d=0.0, crop_pos_x=0.5, crop_pos_y=0.5,
                          crop_pos_z=0.5, rounding="round", out_of_bounds_policy="error", fill_values=(0.0,),
                          mirror=0, mean=(0.0,), std=(1.0,), scale=1.0, shift=0.0, pad_output=False,
                          dtype=FLOAT, output_dtype=None, output_layout="CHW", image_type=None, context):
    """Take a region of a picture, turn it round, and bring each channel to a mean and a spread."""
    who = "fn.crop_mirror_normalize"
    layout = context.layout or {3: "HWC", 4: "FHWC"}.get(data.ndim, "")
    axes, channel = spatial(layout, data.ndim, who)
    kind = np.dtype(to_numpy_type(dtype if output_dtype is None else output_dtype))
    low, high = window(data, layout, who, crop, crop_h, crop_w, crop_d, crop_pos_x, crop_pos_y, crop_pos_z, rounding)
    if sorted(output_layout) != sorted(layout):
        raise RuntimeError(got(who, f"output_layout={output_layout!r} for {layout!r}", "the same letters"))
    inside = all(0 <= start and end <= size for start, end, size in zip(low, high, data.shape))
    is_by_channel = max(np.size(mean), np.size(std)) > 1 and output_layout[-3:] == "HWC"
    if inside and not pad_output and (kind == np.float16 or is_by_channel):  # else NumPy is as quick
        settings = _settings_of(data, layout, low, high, mean, std, scale, shift, output_layout, kind)
        if settings is not None:
            (top, bottom), (left, right) = ((low[axis], high[axis]) for axis in axes)
            size = bottom - top, right - left
            made = write(data if data.ndim == 4 else data[None], size, (top, left, *size), mirror=bool(number(mirror)),
                         **settings)
            return Laid(made if data.ndim == 4 else made[0], output_layout)
    filled = out_of_bounds_policy == "pad" and not inside
    if filled:  # what is filled in is filled in as it is
        made = cut(_spread(data, channel, mean, std, scale, shift), low, high, "pad", fill_values, who)
    else:
        made = cut(data, low, high, out_of_bounds_policy, 0, who)
    made = np.flip(made, axes[-1]) if number(mirror) else made
    made = made.transpose([layout.index(letter) for letter in output_layout])
    channel = output_layout.find("C") if channel is not None else None
    if not filled:
        made = _spread(made, channel, mean, std, scale, shift)
    made = convert(made, kind)
    if pad_output and channel is not None:
        made = _pad_channels(made, channel, fill_values)
    return Laid(np.ascontiguousarray(made), output_layout)


def _settings_of(data, layout, low, high, mean, std, scale, shift, output_layout, kind):
    """Return the settings of a recipe for a region of a picture, or None where the engine has no pass for it."""
    if not (data.dtype == np.uint8 and data.size and layout in ("HWC", "FHWC") and data.shape[-1] in (1, 3, 4)
            and output_layout[-3:] in ("HWC", "CHW") and kind in (np.float32, np.float16)
            and all(start < end for start, end in zip(low, high))):
        return None
    rows = (tuple(np.ravel(one).tolist()) for one in (mean, std, scale, shift))
    return line_settings(data.shape[-1], *rows, output_layout[-3:], kind.name)


@functools.lru_cache(maxsize=64)
def line_settings(channels, mean, std, scale, shift, layout, kind):
    """Return the settings of a recipe that makes (x - mean) * scale / std + shift of bytes, as (x / 255 - m) / s.

    It is None where numbers are infinite, or there are not as many as channels. All are tuples; the layout is that of
    one picture, the kind a type's name.
    """
    rows = [np.array(one, np.float64) for one in (mean, std, scale, shift)]
    if not (all(row.size in (1, channels) for row in rows[:2]) and all(row.size == 1 for row in rows[2:])
            and all(np.isfinite(row).all() for row in rows) and all(row.all() for row in rows[1:3])):
        return None
    mean, std, scale, shift = (np.broadcast_to(row, channels) for row in rows)
    spread = std / (255 * scale)
    return {"mean": tuple((mean / 255 - spread * shift).tolist()), "std": tuple(spread.tolist()),
            "layout": f"N{layout}", "dtype": kind}


def _spread(data, channel, mean, std, scale, shift):
    """Return numbers less their mean, over their spread."""
    def along(values):
        row = np.ravel(np.asarray(values, np.float32))
        if row.size == 1 or channel is None:
            return row[0] if row.size == 1 else row
        return row.reshape([-1 if axis == channel else 1 for axis in range(data.ndim)])
    mean, std = along(mean), along(std)
    if np.all(mean == 0) and np.all(std == 1) and scale == 1 and shift == 0:
        return data
    # Written in the order of the result, whatever that of the picture is: one way through memory less.
    made = np.empty(data.shape, np.float32)
    with np.errstate(divide="ignore", invalid="ignore"):
        np.subtract(data, mean, out=made, dtype=np.float32, casting="unsafe")
        made *= np.float32(scale) / std
    if shift:
        made += np.float32(shift)
    return made


def _pad_channels(made, channel, fill_values):
    """Return a picture with channels added up to a power of 2."""
    count = made.shape[channel]
    more = (1 << (count - 1).bit_length()) - count
    if not more:
        return made
    fill = np.ravel(fill_values)
    shape = list(made.shape)
    shape[channel] = more
    extra = np.full(shape, convert(np.asarray(fill[-1]), made.dtype), made.dtype)
    return np.concatenate([made, extra], channel)


def _normalized(data, mean, stddev, shift, scale, epsilon, dtype):
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.float32(scale) / np.sqrt(np.asarray(stddev, np.float32) ** 2 + np.float32(epsilon)) if epsilon \
            else np.float32(scale) / np.asarray(stddev, np.float32)
        factor = np.where(np.isfinite(factor), factor, 0).astype(np.float32)
        return convert((data.astype(np.float32) - np.asarray(mean, np.float32)) * factor + np.float32(shift), dtype)


@operator("normalize", instead=lambda arguments: "_normalize_batch" if arguments.get("batch") else None)
def normalize(data, *, axes=None, axis_names=None, mean=None, stddev=None, batch=False, ddof=0, epsilon=0.0, scale=1.0,
              shift=0.0, dtype=FLOAT, context):
    """Bring numbers to mean 0 and spread 1 along some axes, by their own mean and spread unless these are given."""
    chosen = tuple(axes_of(context.layout, data.ndim, axes, axis_names))
    wide = data.astype(np.float64)
    middle = wide.mean(chosen, keepdims=True) if mean is None else np.asarray(mean, np.float64)
    if stddev is None:
        count = int(np.prod([data.shape[axis] for axis in chosen]))
        square = ((wide - middle) ** 2).sum(chosen, keepdims=True) / max(count - ddof, 0 if count > ddof else 1)
        stddev = np.sqrt(square)
    return _normalized(data, middle, stddev, shift, scale, epsilon, dtype)


@operator("_normalize_batch", kind="batch")
def normalize_batch(samples, *, axes=None, axis_names=None, mean=None, stddev=None, batch=True, ddof=0, epsilon=0.0,
                    scale=1.0, shift=0.0, dtype=FLOAT, context, count):
    """Bring numbers to mean 0 and spread 1 by the mean and spread of the whole batch."""
    if not samples:
        return []
    chosen = tuple(axes_of(context.layout, samples[0].ndim, axes, axis_names))
    numbers = sum(int(np.prod([one.shape[axis] for axis in chosen])) for one in samples)
    wide = [one.astype(np.float64) for one in samples]
    try:
        middle = sum(one.sum(chosen, keepdims=True) for one in wide) / numbers if mean is None else np.asarray(mean)
        if stddev is None:
            square = sum(((one - middle) ** 2).sum(chosen, keepdims=True) for one in wide)
            stddev = np.sqrt(square / (numbers - ddof))
    except ValueError:
        raise RuntimeError(got("fn.normalize(batch=True)", f"shapes {[one.shape for one in samples]}",
                               "equal sizes along the axes that are not reduced")) from None
    return [_normalized(one, middle, stddev, shift, scale, epsilon, dtype) for one in samples]
