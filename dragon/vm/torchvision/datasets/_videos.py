"""Frames and sounds in files of videos; PyAV reads the formats."""
import numpy

from dragon.vm import torch


def _opened(path):
    try:
        import av
    except ImportError as error:
        raise ImportError(f"VideoClips: found no PyAV, which reads videos such as {path}; install it with "
                          "`pip install av`", name="av") from error
    return av.open(str(path))


def measure(path):
    """Return how many frames a video has, and how many of them a second."""
    with _opened(path) as file:
        if not file.streams.video:
            raise RuntimeError(f"VideoClips: found no frames in {path}, expected a video")
        stream = file.streams.video[0]
        # What a file says of itself may be missing or wrong, so its packets are counted; none is decoded.
        count = sum(packet.pts is not None for packet in file.demux(stream))
        return count, float(stream.average_rate)


def read_frames(path, start, end):
    """Return the frames from `start` up to `end`, uint8 of shape (T, H, W, C)."""
    frames = []
    with _opened(path) as file:
        for place, frame in enumerate(file.decode(video=0)):
            if place >= end:
                break
            if place >= start:
                frames.append(frame.to_ndarray(format="rgb24"))
    if len(frames) != end - start:
        raise RuntimeError(f"VideoClips: found {start + len(frames)} frames in {path}, expected {end}")
    return torch.from_numpy(numpy.stack(frames))


def read_sound(path, start, end):
    """Return the sound between two seconds, float32 of shape (channels, samples); a silent video's is (1, 0)."""
    with _opened(path) as file:
        if not file.streams.audio:
            return torch.empty((1, 0), dtype=torch.float32)
        rate, parts = file.streams.audio[0].rate, []
        for frame in file.decode(audio=0):
            first = round(float(frame.time or 0) * rate)
            if first >= round(end * rate):
                break
            samples = _floats(frame)
            kept = samples[:, max(round(start * rate) - first, 0):max(round(end * rate) - first, 0)]
            if kept.size:
                parts.append(kept)
    return torch.from_numpy(numpy.concatenate(parts, 1)) if parts else torch.empty((1, 0), dtype=torch.float32)


def _floats(frame):
    """Return a frame of sound as float32 of shape (channels, samples), whole numbers as parts of the greatest."""
    samples = frame.to_ndarray()
    if not frame.format.is_planar:
        samples = samples.reshape(-1, len(frame.layout.channels)).T
    if samples.dtype.kind in "iu":
        scale = 2.0 ** (8 * samples.dtype.itemsize - 1)
        samples = samples / scale - (samples.dtype.kind == "u")
    return samples.astype("float32")
