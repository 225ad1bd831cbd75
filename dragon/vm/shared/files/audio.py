"""`tf.audio`: sounds in files of the format WAV."""
from collections import namedtuple as _namedtuple

from dragon.vm.shared import errors as _errors
from dragon.vm.shared.data.rows import array_of as _array_of, wrap_array as _wrap
from dragon.vm.shared.files.sounds import decode_wav as _decode, encode_wav as _encode
from dragon.vm.shared.tensors.convert import convert_to_tensor as _convert

_DecodeWav = _namedtuple("DecodeWav", ["audio", "sample_rate"])


def decode_wav(contents, desired_channels=-1, desired_samples=-1, name=None):
    """Return the samples of a file of 16-bit samples, between -1 and 1, and how many there are per second.

    Parameters
    ----------
    contents : Tensor
        The bytes of the file.
    desired_channels : int, optional, default=-1
        How many channels there are to be; those that lack are copies of the first. -1 leaves them as they are.
    desired_samples : int, optional, default=-1
        How many samples there are to be: more are cut off, fewer are followed by zeros. -1 leaves them as they are.

    """
    import numpy as np
    data = _convert(contents)
    if data.dtype.name != "string" or len(data.shape):
        raise _errors.InvalidArgumentError(None, None, f"decode_wav: contents must be scalar. Received: {contents!r}")
    samples, rate = _decode(data.numpy())
    channels, count = int(desired_channels), int(desired_samples)
    if channels > samples.shape[1]:
        samples = np.concatenate([samples] + [samples[:, -1:]] * (channels - samples.shape[1]), 1)
    elif channels >= 0:
        samples = samples[:, :channels]
    if count >= 0:
        samples = np.pad(samples[:count], ((0, max(count - len(samples), 0)), (0, 0)))
    return _DecodeWav(_wrap(np.ascontiguousarray(samples)), _convert(rate, dtype="int32"))


def encode_wav(audio, sample_rate, name=None):
    """Return samples [samples, channels] between -1 and 1 as the bytes of a file of 16-bit samples."""
    samples = _array_of(_convert(audio))
    if samples.ndim != 2:
        raise _errors.InvalidArgumentError(None, None, "encode_wav: audio must be 2-dimensional but got shape "
                                           f"{list(samples.shape)}")
    if not samples.shape[1] or int(sample_rate) < 1:
        raise _errors.InvalidArgumentError(None, None, "encode_wav: num_channels and sample_rate must be positive. "
                                           f"Received: shape {list(samples.shape)}, sample_rate={sample_rate}")
    return _convert(_encode(samples, int(sample_rate)))
