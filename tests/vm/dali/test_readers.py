"""Readers: which samples come in which order, for whom, and what is in them; recorded from DALI 2.4."""
import io
import json
import struct
import tarfile

import numpy as np
import pytest

from dragon.vm import dali
from dragon.io.sources.tfrecord import frame
from dragon.vm.dali import fn, tfrecord, types
from dragon.vm.dali.plugin.base_iterator import IteratorBase, LastBatchPolicy


@pytest.fixture
def folder(tmp_path):
    """Make eleven files, 0 to 10, in two folders by turns; in order of names the even ones come first."""
    for number in range(11):
        place = tmp_path / "ab"[number % 2]
        place.mkdir(exist_ok=True)
        (place / f"{number:02d}.jpg").write_bytes(bytes([number]))
    return str(tmp_path)


def make(batch_size=4, **options):
    """Return a pipeline of a reader of files."""
    pipe = dali.Pipeline(batch_size, 1, None, seed=1)
    with pipe:
        pipe.set_outputs(*fn.readers.file(name="R", **options))
    return pipe


def read(pipe, count):
    """Return the numbers in so many batches."""
    return [[int(array[0]) for array in map(np.asarray, pipe.run()[0])] for _ in range(count)]


ORDERS = [
    ({}, [[0, 2, 4, 6], [8, 10, 1, 3], [5, 7, 9, 0], [2, 4, 6, 8]], 11),
    ({"shard_id": 1, "num_shards": 3}, [[6, 8, 10, 1], [3, 5, 7, 9], [0, 2, 4, 6], [8, 10, 1, 3]], 11),
    ({"shard_id": 1, "num_shards": 3, "pad_last_batch": True},
     [[6, 8, 10, 1], [3, 5, 7, 9], [0, 2, 4, 4], [6, 8, 10, 1]], 12),
    ({"num_shards": 3, "stick_to_shard": True}, [[0, 2, 4, 0], [2, 4, 0, 2], [4, 0, 2, 4], [0, 2, 4, 0]], 11),
    ({"num_shards": 3, "stick_to_shard": True, "pad_last_batch": True}, [[0, 2, 4, 4]] * 4, 12),
]


@pytest.mark.parametrize("options, wanted, size", ORDERS)
def test_orders(folder, options, wanted, size):
    pipe = make(file_root=folder, **options)
    assert read(pipe, len(wanted)) == wanted
    assert pipe.epoch_size("R") == size and pipe.epoch_size() == {"R": size}
    assert pipe.reader_meta("R")["epoch_size"] == 11 and pipe.reader_meta("R")["shard_id"] == options.get("shard_id", 0)


@pytest.mark.parametrize("options", [{"random_shuffle": True}, {"random_shuffle": True, "initial_fill": 3},
                                     {"shuffle_after_epoch": True}])
def test_shuffled_epochs_have_each_sample_once(folder, options):
    row = sum(read(make(file_root=folder, **options), 11), [])
    epochs = [row[start:start + 11] for start in range(0, 44, 11)]
    assert all(sorted(epoch) == list(range(11)) for epoch in epochs) and len(set(map(tuple, epochs))) > 1
    shards = [read(make(batch_size=1, file_root=folder, shard_id=one, num_shards=2, **options), 5) for one in (0, 1)]
    assert not set(map(tuple, shards[0])) & set(map(tuple, shards[1]))


def test_results_labels_and_lists(folder, tmp_path):
    pipe = make(file_root=folder)
    data, labels = pipe.run()
    assert data.dtype == types.UINT8 and labels.dtype == types.INT32 and labels.shape() == [(1,)] * 4
    assert data[0].source_info() == "a/00.jpg"
    (tmp_path / "list.txt").write_text("a/02.jpg 7\nb/03.jpg 9\n")
    for options in ({"file_list": str(tmp_path / "list.txt")}, {"files": ["a/02.jpg", "b/03.jpg"], "labels": [7, 9]}):
        data, labels = make(2, file_root=folder, **options).run()
        assert data.as_array().ravel().tolist() == [2, 3] and labels.as_array().ravel().tolist() == [7, 9]
    assert read(make(2, file_root=folder, file_filters=["*1.JPG"]), 1) == [[1, 1]]
    assert read(make(2, file_root=folder, dir_filters=["b"]), 1) == [[1, 3]]


@pytest.mark.parametrize("options", [{}, {"file_root": "nothing"}, {"files": ["x"], "labels": [1, 2]},
                                     {"shard_id": 3, "num_shards": 3, "files": ["x"] * 9},
                                     {"num_shards": 9, "files": ["x"]}, {"files": ["x"], "file_list": "y"},
                                     {"files": ["x"], "shuffle_after_epoch": True, "random_shuffle": True}])
def test_what_readers_refuse(options):
    with pytest.raises(RuntimeError, match="got"):
        make(**options).build()


EPOCHS = [  # policy, shards, options, what two epochs give of samples, batches of four
    (LastBatchPolicy.FILL, [(0, 1)], {}, [[4, 4, 4], [4, 4, 4]]),
    (LastBatchPolicy.PARTIAL, [(0, 1)], {}, [[4, 4, 3], [4, 4, 3]]),
    (LastBatchPolicy.DROP, [(0, 1)], {}, [[4, 4], [4, 4]]),
    (LastBatchPolicy.PARTIAL, [(1, 3)], {"pad_last_batch": True}, [[4], [4]]),
]


@pytest.mark.parametrize("policy, shards, options, sizes", EPOCHS)
def test_epochs(folder, policy, shards, options, sizes):
    class Counting(IteratorBase):
        def _deliver(self, batches, left):
            return left
    pipes = [make(file_root=folder, shard_id=one, num_shards=count, **options) for one, count in shards]
    iterator = Counting(pipes, reader_name="R", last_batch_policy=policy, auto_reset=True)
    assert [[left[0] for left in iterator] for _ in sizes] == sizes
    assert len(iterator) == len(sizes[-1])


@pytest.mark.parametrize("options, kind", [({"size": 0}, AssertionError), ({"auto_reset": "x"}, ValueError),
                                           ({"size": 5, "reader_name": "R"}, AssertionError),
                                           ({"last_batch_policy": 1}, ValueError),
                                           ({"reader_name": "S"}, RuntimeError)])
def test_what_iterators_refuse(folder, options, kind):
    with pytest.raises(kind):
        IteratorBase(make(file_root=folder), **options)


def test_arrays_and_their_regions(tmp_path):
    for number in range(2):
        np.save(tmp_path / f"{number}.npy", np.arange(20, dtype=np.float32).reshape(4, 5) + number)

    def values(**options):
        pipe = dali.Pipeline(2, 1, None)
        with pipe:
            pipe.set_outputs(fn.readers.numpy(file_root=str(tmp_path), **options))
        return pipe.run()[0].at(1).tolist()
    assert values(roi_start=[1, 2], roi_shape=[2, 2]) == [[8, 9], [13, 14]]
    assert values(rel_roi_start=[0.5, 0.2], rel_roi_end=[1, 0.4]) == [[12], [17]]
    assert values(roi_start=[-1], roi_end=[1], roi_axes=[0], out_of_bounds_policy="pad", fill_value=9) == [
        [9] * 5, [1, 2, 3, 4, 5]]
    with pytest.raises(RuntimeError, match="out_of_bounds_policy='pad'"):
        values(roi_start=[-1], roi_end=[1], roi_axes=[0])


def field(number, wire, data):
    """Return a field of a message."""
    return bytes([number << 3 | wire]) + (bytes([len(data)]) + data if wire == 2 else data)


def test_examples_of_tensorflow(tmp_path):
    data, index = b"", ""
    for number in range(3):
        parts = {b"x": field(1, 2, field(1, 2, b"img%d" % number)),
                 b"f": field(2, 2, field(1, 2, struct.pack("<2f", number, number + 0.5))),
                 b"i": field(3, 2, field(1, 2, bytes([number])))}
        features = b"".join(field(1, 2, field(1, 2, key) + field(2, 2, value)) for key, value in parts.items())
        example = field(1, 2, features)
        record = frame(example)
        index += f"{len(data)} {len(record)}\n"
        data += record
    (tmp_path / "a.tfrecord").write_bytes(data)
    (tmp_path / "a.idx").write_text(index)
    pipe = dali.Pipeline(3, 1, None)
    with pipe:
        given = fn.readers.tfrecord(path=str(tmp_path / "a.tfrecord"), index_path=str(tmp_path / "a.idx"), features={
            "x": tfrecord.FixedLenFeature((), tfrecord.string, ""), "f": tfrecord.VarLenFeature(tfrecord.float32, 0.0),
            "i": tfrecord.FixedLenFeature([1], tfrecord.int64, -1),
            "no": tfrecord.FixedLenFeature([1], tfrecord.int64, -1)})
        pipe.set_outputs(given["x"], given["f"], given["i"], given["no"])
    text, reals, wholes, absent = pipe.run()
    assert [bytes(text.at(place)) for place in range(3)] == [b"img0", b"img1", b"img2"]
    assert reals.as_array().tolist() == [[0, 0.5], [1, 1.5], [2, 2.5]] and wholes.as_array().tolist() == [[0], [1], [2]]
    assert absent.as_array().tolist() == [[-1]] * 3
    changed = data.replace(b"img1", b"imgX")
    no_example = frame(b"\xff" * 30) * 3
    for broken, message in ((data[:-20], "expected one that lies within the file"), (changed, "a corrupted record"),
                            (no_example[:len(data)].ljust(len(data), b"\0"), "a corrupted record")):
        (tmp_path / "a.tfrecord").write_bytes(broken)
        with pytest.raises(ValueError, match=message):
            pipe = dali.Pipeline(3, 1, None)
            with pipe:
                pipe.set_outputs(fn.readers.tfrecord(
                    path=str(tmp_path / "a.tfrecord"), index_path=str(tmp_path / "a.idx"),
                    features={"i": tfrecord.FixedLenFeature([1], tfrecord.int64, -1)})["i"])
            pipe.run()


@pytest.mark.parametrize("policy, names", [("", [b"0", b"1", b"2"]), ("skip", [b"0", b"2"]), ("error", None)])
def test_archives(tmp_path, policy, names):
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for number in range(3):
            for ending in ("jpg", "cls") if number != 1 else ("jpg",):
                info, data = tarfile.TarInfo(f"s/{number}.{ending}"), b"%d" % number
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
    pipe = dali.Pipeline(len(names or "x"), 1, None)
    with pipe:
        pipe.set_outputs(*fn.readers.webdataset(paths=str(tmp_path / "a.tar"), ext=["png;jpg", "cls"],
                                                missing_component_behavior=policy))
    if names is None:
        with pytest.raises(RuntimeError, match="without a component"):
            pipe.run()
        return
    pictures, _ = pipe.run()
    assert [bytes(pictures.at(place)) for place in range(len(names))] == names


def test_pictures_with_boxes(tmp_path):
    boxes = [(30, 5, [1, 2, 10, 7]), (30, 9, [0, 0, 0.05, 7]), (10, 9, [50, 25, 20, 10])]
    for name in ("im1", "im3", "im9"):
        (tmp_path / f"{name}.jpg").write_bytes(name.encode())
    told = {"images": [{"id": number * 10, "file_name": f"im{number}.jpg", "width": 100, "height": 50}
                       for number in (3, 1, 9)],
            "annotations": [{"id": place, "image_id": image, "category_id": label, "bbox": box, "iscrowd": 0,
                             "segmentation": [[1, 2, 10, 3, 5, 9]]} for place, (image, label, box) in enumerate(boxes)],
            "categories": [{"id": 2}, {"id": 5}, {"id": 9}]}
    (tmp_path / "ann.json").write_text(json.dumps(told))

    def values(**options):
        pipe = dali.Pipeline(2, 1, None)
        with pipe:
            pipe.set_outputs(*fn.readers.coco(file_root=str(tmp_path), annotations_file=str(tmp_path / "ann.json"),
                                              **options))
        return [[output.at(place).tolist() for place in range(2)] for output in pipe.run()]
    _, found, labels = values(ltrb=True, ratio=True)
    np.testing.assert_allclose(found[0] + found[1], [[0.5, 0.5, 0.7, 0.7], [0.01, 0.04, 0.11, 0.18]], rtol=1e-6)
    assert labels == [[3], [2]]  # small boxes are left out, and labels count from 1
    assert values(avoid_class_remapping=True)[2] == [[9], [5]]
    assert values(polygon_masks=True, image_ids=True)[3:] == [
        [[[0, 0, 3]], [[0, 0, 3]]], [[[1, 2], [10, 3], [5, 9]]] * 2, [[10], [30]]]
    assert values(skip_empty=True, image_ids=True)[-1] == [[10], [30]]
    assert values(images=["im9.jpg", "im3.jpg"], image_ids=True)[-1] == [[90], [30]]
