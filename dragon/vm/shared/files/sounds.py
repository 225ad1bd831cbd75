"""Sounds in files of the format WAV."""
import io
import wave

from dragon.vm.shared import errors

LARGEST = 32767  # of 16-bit samples


def encode_wav(samples, rate):
    """Return an array [frames, channels] of numbers between -1 and 1 as the bytes of a file of 16-bit samples."""
    import numpy as np
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(samples.shape[1])
        writer.setsampwidth(2)
        writer.setframerate(rate)
        writer.writeframes(np.clip(np.rint(samples * LARGEST), -LARGEST - 1, LARGEST).astype("<i2").tobytes())
    return file.getvalue()


def decode_wav(data):
    """Return (an array [frames, channels] of float32, frames per second) of the bytes of a file of 16-bit samples."""
    import numpy as np
    try:
        with wave.open(io.BytesIO(data)) as reader:
            if reader.getsampwidth() != 2:
                raise errors.InvalidArgumentError(None, None, "decode_wav: Can only read 16-bit WAV files, but "
                                                  f"received {8 * reader.getsampwidth()}")
            frames = np.frombuffer(reader.readframes(reader.getnframes()), "<i2")
            return (frames / np.float32(LARGEST + 1)).astype(np.float32).reshape(-1, reader.getnchannels()), (
                reader.getframerate())
    except (wave.Error, EOFError) as error:
        raise errors.InvalidArgumentError(None, None, f"decode_wav: Header mismatch: {error}") from None
