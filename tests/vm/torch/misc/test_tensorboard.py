"""torch.utils.tensorboard: the files, read again with a decoder of the tests' own."""
import io
import struct
import wave

import numpy as np
import pytest

from dragon.vm import torch as dt
from dragon.vm.torch.utils.tensorboard.records import checksum, read_records


def decode(data):
    """Return the fields of a protobuf message: number to list of values."""
    fields, place = {}, 0

    def varint():
        nonlocal place
        number = shift = 0
        while True:
            byte = data[place]
            place += 1
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number
    while place < len(data):
        key = varint()
        kind = key & 7
        if kind == 0:
            value = varint()
        else:
            size = varint() if kind == 2 else {1: 8, 5: 4}[kind]
            value = data[place:place + size]
            place += size
            value = value if kind == 2 else struct.unpack("<d" if kind == 1 else "<f", value)[0]
        fields.setdefault(key >> 3, []).append(value)
    return fields


def read_events(folder):
    """Return (step, tag, fields of the value) of everything below a folder."""
    found = []
    for path in sorted(folder.rglob("events.*")):
        events = [decode(record) for record in read_records(path)]
        assert events[0][3] == [b"brain.Event:2"]
        for event in events[1:]:
            value = decode(decode(event[5][0])[1][0])
            found.append((event.get(2, [None])[0], value[1][0].decode(), value))
    return found


def doubles(data):
    """Return packed doubles."""
    return list(struct.unpack(f"<{len(data) // 8}d", data))


def test_checksums_are_crc32c():
    # The check value of CRC-32C for "123456789" is 0xE3069283; files hold it rotated and shifted.
    crc = 0xE3069283
    assert checksum(b"123456789") == ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def test_scalars(tmp_path):
    with dt.utils.tensorboard.SummaryWriter(tmp_path / "run") as writer:
        writer.add_scalar("loss/train", 0.5, 3)
        writer.add_scalar("loss", dt.tensor(2.0), 4, walltime=5.0)
        writer.add_scalar("new", 1.0, 1, new_style=True)
        writer.add_scalars("both", {"a": 1.0, "b": 2.0}, 7)
        assert str(writer.get_logdir()).endswith("run")
    found = {(step, tag): value for step, tag, value in read_events(tmp_path)}
    assert found[3, "loss/train"][2] == [0.5] and found[4, "loss"][2] == [2.0]
    assert decode(found[1, "new"][8][0])[1] == [1]
    assert sorted(path.name for path in (tmp_path / "run").iterdir() if path.is_dir()) == ["both_a", "both_b"]


def test_histograms(tmp_path):
    values = dt.tensor([-1.0, 0.0, 0.5, 2.0])
    with dt.utils.tensorboard.SummaryWriter(tmp_path) as writer:
        writer.add_histogram("h", values, 1)
        writer.add_histogram("few", values.numpy(), 1, bins=3)
        writer.add_histogram_raw("raw", 0, 1, 2, 1, 1, [0.5, 1.0], [1, 1], 2)
        with pytest.raises(ValueError):
            writer.add_histogram("nothing", dt.zeros(0))
    found = {tag: decode(value[5][0]) for _, tag, value in read_events(tmp_path)}
    for tag in ("h", "few"):
        assert [found[tag][place][0] for place in range(1, 6)] == [-1.0, 2.0, 4.0, 1.5, 5.25]
        assert sum(doubles(found[tag][7][0])) == 4
        assert len(doubles(found[tag][6][0])) == len(doubles(found[tag][7][0]))
    assert doubles(found["raw"][6][0]) == [0.5, 1.0]


@pytest.mark.parametrize("shape, form, size", [((3, 4, 5), "CHW", (4, 5)), ((4, 5), "HW", (4, 5)),
                                               ((4, 5, 3), "HWC", (4, 5)), ((10, 1, 4, 5), "NCHW", (8, 40))])
def test_images(tmp_path, shape, form, size):
    with dt.utils.tensorboard.SummaryWriter(tmp_path) as writer:
        (writer.add_images if "N" in form else writer.add_image)("i", dt.full(shape, 0.5), 1, dataformats=form)
        with pytest.raises(AssertionError):
            writer.add_image("wrong", dt.zeros(2, 2), dataformats="CHW")
    (_, _, value), = read_events(tmp_path)
    picture = decode(value[4][0])
    assert (picture[1][0], picture[2][0]) == size and picture[4][0].startswith(b"\x89PNG")
    image = pytest.importorskip("PIL.Image")
    pixels = np.asarray(image.open(io.BytesIO(picture[4][0])))
    assert pixels.shape == (*size, 3) and pixels[0, 0].tolist() == [127] * 3


def test_text_audio_and_hyperparameters(tmp_path):
    with dt.utils.tensorboard.SummaryWriter(tmp_path, filename_suffix=".x") as writer:
        writer.add_text("note", "hello", 1)
        writer.add_audio("tone", dt.zeros(1, 100), 2, sample_rate=8000)
        writer.add_tensor("t", dt.ones(2, 3), 3)
        writer.flush()
        writer.add_hparams({"rate": 0.1, "bias": True, "name": "adam"}, {"accuracy": 0.5}, run_name="first")
        with pytest.raises(TypeError):
            writer.add_hparams([], {})
        for name in ("add_graph", "add_embedding", "add_mesh"):
            with pytest.raises(NotImplementedError, match=name):
                getattr(writer, name)(None)
    found = {tag: value for _, tag, value in read_events(tmp_path)}
    assert decode(found["note/text_summary"][8][0])[8] == [b"hello"]
    sound = decode(found["tone"][6][0])
    with wave.open(io.BytesIO(sound[4][0])) as file:
        assert file.getnframes() == 100 and file.getframerate() == 8000
    content = decode(decode(decode(found["_hparams_/session_start_info"][9][0])[1][0])[2][0])
    chosen = {decode(item)[1][0]: decode(decode(item)[2][0]) for item in decode(content[3][0])[1]}
    assert chosen == {b"rate": {2: [0.1]}, b"bias": {2: [1.0]}, b"name": {3: [b"adam"]}}
    assert found["accuracy"][2] == [0.5]
