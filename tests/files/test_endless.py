"""Devices that never end are refused before they are read; pipes, and what is in memory, are read."""
import io
import os
import pathlib
import resource
import subprocess
import sys
import threading

import pytest

from dragon.core.files import check_end, read_whole

# Each reads its whole file at once; a limit to memory ends it where it reads a device.
READERS = """
import sys, dragon
from dragon.vm import keras, tensorflow as tf, torch
from dragon.vm.torchvision.io import read_file, read_image
path = sys.argv[1]
for read in (torch.export.load, lambda path: torch.jit.load(open(path, "rb")), tf.io.read_file, read_file, read_image,
             keras.utils.load_img, lambda path: tf.io.gfile.GFile(path, "rb").read(),
             lambda path: keras.layers.StringLookup(vocabulary=path),
             lambda path: next(iter(tf.data.TextLineDataset(path)))):
    try:
        read(path)
    except (OSError, tf.errors.OpError) as error:
        assert "without an end" in str(error), error
    else:
        raise AssertionError("a device was read")
"""


def test_readers_refuse_devices(tmp_path):
    limit = 6 << 30
    done = subprocess.run([sys.executable, "-c", READERS, "/dev/zero"], capture_output=True, text=True, timeout=120,
                          cwd=tmp_path, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
                          env=dict(os.environ, OMP_NUM_THREADS="1"))
    assert done.returncode == 0, done.stderr[-2000:]


def test_devices_without_an_end():
    for path in ("/dev/zero", "/dev/full", "/dev/urandom"):
        with open(path, "rb") as file, pytest.raises(OSError, match=f"without an end.*{path}"):
            check_end(file)
    assert read_whole(os.devnull) == b""


def test_what_ends_is_read(tmp_path):
    """Files, pipes with names, and files in memory."""
    path = tmp_path / "file"
    path.write_bytes(b"abc")
    assert read_whole(path) == b"abc"
    check_end(io.BytesIO(b"abc"))
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pathlib.Path(pipe).write_bytes, args=(b"through a pipe",))
    writer.start()
    assert read_whole(pipe) == b"through a pipe"
    writer.join()
    with pytest.raises(IsADirectoryError):
        read_whole(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_whole("")
