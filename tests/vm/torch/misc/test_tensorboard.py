"""torch.utils.tensorboard: the files, read again with a decoder of the tests' own."""
import io
import struct
import wave

import numpy as np
import pytest

from dragon.vm import torch as dt
from dragon.io.sources.tfrecord import masked, TFRecordStream


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
        events = [decode(record) for record in TFRecordStream(path)]
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
    assert masked(b"123456789") == ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def test_scalars(tmp_path):
    with dt.utils.tensorboard.SummaryWriter(tmp_path / "run") as writer:
        writer.add_scalar("loss/train", 0.5, 3)
        writer.add_scalar("loss", dt.tensor(2.0), 4, walltime=5.0)
        writer.add_scalar("new", 1.0, 1, new_style=True)
        writer.add_scalars("both", {"a": 1.0, "b": 2.0}, 7)
        writer.add_scalar("one", np.full((1, 1), 3, np.int64), 2)
        with pytest.raises(NotImplementedError, match="Got <class 'list'>, but numpy array or torch tensor"):
            writer.add_scalar("list", [1.0])
        with pytest.raises(NotImplementedError, match="Got <class 'list'>"):
            writer.add_histogram("list", [1.0])
        with pytest.raises(AssertionError, match=r"got pair of shape \(2,\), expected one number"):
            writer.add_scalar("pair", dt.ones(2))
        assert str(writer.get_logdir()).endswith("run")
    found = {(step, tag): value for step, tag, value in read_events(tmp_path)}
    assert found[3, "loss/train"][2] == [0.5] and found[4, "loss"][2] == [2.0] and found[2, "one"][2] == [3.0]
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
    found = {tag: value for _, tag, value in read_events(tmp_path)}
    assert decode(found["note/text_summary"][8][0])[8] == [b"hello"]
    sound = decode(found["tone"][6][0])
    with wave.open(io.BytesIO(sound[4][0])) as file:
        assert file.getnframes() == 100 and file.getframerate() == 8000
    content = decode(decode(decode(found["_hparams_/session_start_info"][9][0])[1][0])[2][0])
    chosen = {decode(item)[1][0]: decode(decode(item)[2][0]) for item in decode(content[3][0])[1]}
    assert chosen == {b"rate": {2: [0.1]}, b"bias": {2: [1.0]}, b"name": {3: [b"adam"]}}
    assert found["accuracy"][2] == [0.5]


def floats(data):
    """Return packed numbers of single precision."""
    return list(struct.unpack(f"<{len(data) // 4}f", data))


def test_curves_of_precision_and_recall(tmp_path):
    labels, predictions = dt.tensor([0, 1, 1, 0, 1]), dt.tensor([0.1, 0.4, 0.35, 0.8, 0.9])
    with dt.utils.tensorboard.SummaryWriter(tmp_path) as writer:
        writer.add_pr_curve("pr", labels, predictions, 3, num_thresholds=3)
        writer.add_pr_curve("weighted", labels, predictions, num_thresholds=3, weights=np.array([1, 2, 1, 1, 2]))
        writer.add_pr_curve("many", labels, predictions, num_thresholds=1000)
        writer.add_pr_curve_raw("raw", *np.arange(12.0).reshape(6, 2), num_thresholds=2)
    found = {tag: (decode(value[8][0]), decode(decode(value[9][0])[1][0])) for _, tag, value in read_events(tmp_path)}
    # Thresholds 0, 1/2 and 1: true and false positives, true and false negatives, precision, recall.
    assert floats(found["pr"][0][5][0]) == pytest.approx(
        [3, 1, 0, 2, 1, 0, 0, 1, 2, 0, 2, 3, 0.6, 0.5, 0, 1, 1 / 3, 0])
    assert floats(found["weighted"][0][5][0])[:6] == [5, 2, 0, 2, 1, 0]
    assert found["many"][1] == {1: [b"pr_curves"], 2: [bytes([16, 127])]}
    assert [decode(size)[1] for size in decode(found["raw"][0][2][0])[2]] == [[6], [2]]
    assert floats(found["raw"][0][5][0]) == list(range(12))


def test_meshes_and_layouts_of_curves(tmp_path):
    points = dt.arange(24.0).reshape(2, 4, 3)
    with dt.utils.tensorboard.SummaryWriter(tmp_path) as writer:
        writer.add_mesh("m", points, colors=points, faces=points.to(dt.int64), config_dict={"b": 2, "a": 1})
        writer.add_custom_scalars({"T": {"x": ["Multiline", ["a", "b"]], "y": ["Margin", ["v", "l", "u"]]}})
        with pytest.raises(AssertionError, match="3 tags"):
            writer.add_custom_scalars_marginchart(["a", "b"])
        with pytest.raises(AssertionError, match="margin chart 'y'"):
            writer.add_custom_scalars({"T": {"y": ["Margin", ["a"]]}})
    path, = tmp_path.iterdir()
    shapes, layout = (decode(decode(record)[5][0])[1] for record in list(TFRecordStream(path))[1:])
    shapes = [decode(value) for value in shapes]
    assert [value[1][0] for value in shapes] == [b"m_VERTEX", b"m_FACE", b"m_COLOR"]
    content = decode(decode(decode(shapes[1][9][0])[1][0])[2][0])
    assert content == {2: [b"m"], 3: [2], 5: [b'{"a": 1, "b": 2}'], 6: [bytes([2, 4, 3])], 7: [14]}
    assert floats(decode(shapes[0][8][0])[5][0]) == list(range(24))
    value = decode(layout[0])
    category = decode(decode(decode(value[8][0])[8][0])[2][0])
    assert value[1] == [b"custom_scalars__config__"] and category[1] == [b"T"]
    lines, margin = map(decode, category[2])
    assert decode(lines[2][0])[1] == [b"a", b"b"]
    assert decode(decode(margin[3][0])[1][0]) == {1: [b"v"], 2: [b"l"], 3: [b"u"]}


def test_boxes_and_films(tmp_path):
    image = pytest.importorskip("PIL.Image")
    with dt.utils.tensorboard.SummaryWriter(tmp_path) as writer:
        writer.add_image_with_boxes("boxes", dt.zeros(3, 20, 30), dt.tensor([[2.0, 3, 10, 15]]), labels="a")
        writer.add_image_with_boxes("large", dt.zeros(3, 20, 30), dt.tensor([[2.0, 3, 10, 15]]), rescale=2)
        writer.add_video("film", dt.linspace(0, 1, 3).reshape(1, 3, 1, 1, 1).expand(2, 3, 3, 4, 5), 1, fps=10)
        with pytest.raises(AssertionError, match="films, frames"):
            writer.add_video("flat", dt.zeros(3, 4, 5))
    found = {tag: decode(value[4][0]) for _, tag, value in read_events(tmp_path)}
    pixels = np.asarray(image.open(io.BytesIO(found["boxes"][4][0])))
    assert pixels[3, 5].tolist() == [255, 0, 0] and pixels[18, 25].tolist() == [0, 0, 0]
    assert image.open(io.BytesIO(found["large"][4][0])).size == (60, 40)
    film = image.open(io.BytesIO(found["film"][4][0]))
    assert film.n_frames == 3 and film.size == (10, 4) and film.info["duration"] == 100
    film.seek(2)
    assert np.asarray(film.convert("RGB"))[0, 0].tolist() == [255] * 3


def test_points_for_the_projector(tmp_path):
    points = dt.arange(12.0).reshape(4, 3) / 4
    with dt.utils.tensorboard.SummaryWriter(tmp_path) as writer:
        writer.add_embedding(points, metadata=list("abcd"), label_img=dt.ones(4, 3, 2, 2), global_step=3, tag="x/y")
        writer.add_embedding(points.numpy(), metadata=[["a", 1]] * 4, metadata_header=["letter", "number"])
        for wrong in ({"metadata": ["a"]}, {"label_img": dt.ones(1, 3, 2, 2)},
                      {"metadata": [["a"]] * 4, "metadata_header": ["a", "b"]}):
            with pytest.raises(AssertionError):
                writer.add_embedding(points, tag="wrong", **wrong)
        with pytest.raises(AssertionError, match="2D"):
            writer.add_embedding(dt.ones(4), tag="flat")
    folder = tmp_path / "00003" / "x%2fy"
    assert (folder / "tensors.tsv").read_text().splitlines()[1] == "0.75\t1.0\t1.25"
    assert (folder / "metadata.tsv").read_text() == "a\nb\nc\nd\n"
    assert (folder / "sprite.png").read_bytes()[16:24] == struct.pack(">II", 4, 4)
    assert (tmp_path / "00000/default/metadata.tsv").read_text() == "letter\tnumber\n" + "a\t1\n" * 4
    assert (tmp_path / "projector_config.pbtxt").read_text() == """embeddings {
  tensor_name: "x/y:00003"
  metadata_path: "00003/x%2fy/metadata.tsv"
  sprite {
    image_path: "00003/x%2fy/sprite.png"
    single_image_dim: 2
    single_image_dim: 2
  }
  tensor_path: "00003/x%2fy/tensors.tsv"
}
embeddings {
  tensor_name: "default:00000"
  metadata_path: "00000/default/metadata.tsv"
  tensor_path: "00000/default/tensors.tsv"
}
"""


def test_graphs_of_modules(tmp_path, capsys):
    model = dt.nn.Sequential(dt.nn.Linear(4, 3), dt.nn.ReLU())
    with dt.utils.tensorboard.SummaryWriter(tmp_path) as writer:
        writer.add_graph(model, dt.ones(2, 4), verbose=True)
    assert "aten.linear" in capsys.readouterr().out
    path, = tmp_path.iterdir()
    events = [decode(record) for record in TFRecordStream(path)][1:]
    nodes = [decode(made) for made in decode(events[0][4][0])[1]]
    assert [(made[1][0].decode(), made[2][0].decode(), len(made.get(3, ()))) for made in nodes] == [
        ("Sequential/Linear[0]/weight", "Parameter", 0), ("Sequential/Linear[0]/bias", "Parameter", 0),
        ("input/input", "IO Node", 0), ("Sequential/Linear[0]/linear", "aten::linear", 3),
        ("Sequential/ReLU[1]/relu", "aten::relu", 1), ("output/output.1", "IO Node", 1)]
    attributes = {decode(item)[1][0]: decode(decode(item)[2][0]) for item in nodes[3][5]}
    shape = decode(attributes[b"_output_shapes"][1][0])[7][0]
    assert [decode(size)[1] for size in decode(shape)[2]] == [[2], [3]]
    assert decode(events[1][8][0])[1] == [b"step1"]


def test_graphs_of_onnx_files(tmp_path):
    onnx = pytest.importorskip("onnx")
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph([onnx.helper.make_node("Softmax", ["x"], ["y"], axis=1)], "g", [value("x", 1, [2])],
                                   [value("y", 1, [2])])
    onnx.save(onnx.helper.make_model(graph), tmp_path / "g.onnx")
    with dt.utils.tensorboard.SummaryWriter(tmp_path / "run") as writer:
        writer.add_onnx_graph(tmp_path / "g.onnx")
    path, = (tmp_path / "run").iterdir()
    nodes = [decode(made) for made in decode(decode(list(TFRecordStream(path))[1])[4][0])[1]]
    assert [made[1][0] for made in nodes] == [b"Variable_x", b"Variable_y", b"Softmax_y"]
    assert nodes[2][3] == [b"Variable_x"] and b"axis = 1" in nodes[2][5][0]
