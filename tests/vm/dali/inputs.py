"""What the recorded calls were made with; all of it is made by formulas, so that any machine has the same."""
import io
import struct
import wave

import numpy as np


def make_wave(sound):
    """Return the bytes of a WAV file of two channels."""
    file = io.BytesIO()
    with wave.open(file, "wb") as written:
        written.setnchannels(2)
        written.setsampwidth(2)
        written.setframerate(8000)
        written.writeframes((np.stack([sound, -sound * 0.5], 1) * 32767).astype("<i2").tobytes())
    return np.frombuffer(file.getvalue(), np.uint8)


def make_bitmap(picture):
    """Return the bytes of a BMP file."""
    height, width = picture.shape[:2]
    rows = np.zeros((height, -(-width * 3 // 4) * 4), np.uint8)
    rows[:, :width * 3] = picture[::-1, :, ::-1].reshape(height, -1)
    head = struct.pack("<2sIHHIIiiHHIIiiII", b"BM", 54 + rows.size, 0, 0, 54, 40, width, height, 1, 24, 0, rows.size,
                       2835, 2835, 0, 0)
    return np.frombuffer(head + rows.tobytes(), np.uint8)


def make_inputs():
    """Return the inputs by name."""
    random = np.random.RandomState(0)
    picture = random.randint(0, 256, (37, 53, 3)).astype(np.uint8)
    y, x = np.mgrid[:40, :60]
    smooth = np.stack([y * 6, x * 4, y * x % 256], -1).astype(np.uint8)
    real = random.randn(5, 7, 3).astype(np.float32)
    sound = np.sin(np.arange(4000) * 0.05).astype(np.float32) * np.linspace(0, 1, 4000).astype(np.float32)
    return {
        "picture": picture, "smooth": smooth, "real": real, "sound": sound, "loud": np.abs(sound),
        "halves": np.float32([-3.5, -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 300, -300]), "boxes": np.float32(
            [[0.1, 0.2, 0.5, 0.6], [0.3, 0.3, 0.9, 0.8]]), "points": np.float32([[1, 2], [3, 4], [5, 6]]),
        "nothing": np.zeros(1, np.float32), "gray": picture[:, :, :1].copy(), "channels": picture.transpose(2, 0, 1),
        "sequence": np.stack([picture, picture[::-1]]), "twice": np.stack([picture, picture]),
        "short": sound[:100].copy(), "shorter": sound[:64].copy(), "labels": np.int32([0, 3, 9]),
        "label": np.int32([2]), "signed": np.int32([-7, -6, 7, 6]), "signs": np.int32([-2, 2, 1, -1]),
        "masks": np.int32([2, 0]), "wide": np.int32([-5, 300, 70000]), "bytes": np.int8([-7, 7]),
        "double": np.float64([1, 2]), "mels": np.random.RandomState(1).rand(30, 25).astype(np.float32),
        "wave": make_wave(sound), "bitmap": make_bitmap(smooth),
        "volume": np.random.RandomState(2).randint(0, 256, (9, 13, 11, 2)).astype(np.uint8),
        "real_volume": np.random.RandomState(3).randn(7, 8, 9, 1).astype(np.float32),
        "corners": np.float32([[0.1, 0.1, 0.4, 0.5], [0.2, 0.3, 0.9, 0.9], [0.5, 0.5, 0.6, 0.7]]),
        "large": np.uint64([0, 3, 2 ** 63 + 5]), "strange": np.float32([1, np.nan, np.inf, -np.inf, 0, -0.0, 1e30]),
        "none": np.zeros((0, 3), np.float32), "truths": np.array([True, False, True]),
        "noise": np.random.RandomState(4).randn(900, 2).astype(np.float32),
        "loudness": (sound * 20000).astype(np.int16), "short_numbers": np.random.RandomState(5).randint(
            -3000, 3000, (12, 15, 3)).astype(np.int16),
        "broken": np.frombuffer(b"hello there", np.uint8),
    }
