"""Readers of annotated data: COCO's pictures with boxes and masks, and manifests of speech."""
import json
import os

import numpy as np

from dragon.vm.dali.core.readers.files import order_of
from dragon.vm.dali.core.readers.reader import Reader, read_bytes
from dragon.vm.dali.core.readers.records import as_list
from dragon.vm.dali.core.refusals import absent, got
from dragon.vm.dali.core.schema import operator


def _count(arguments):
    masks = arguments.get("polygon_masks") or arguments.get("masks")
    return (3 + (2 if masks else 0) + bool(arguments.get("pixelwise_masks")) + bool(arguments.get("image_ids")))


@operator("readers.coco", outputs=_count, kind="source")
class COCOReader(Reader):
    """Read COCO's pictures with the boxes and labels, and the masks if wanted, of what is on them."""

    def __init__(self, *, file_root, annotations_file, avoid_class_remapping=False, images=None, image_ids=False,
                 include_iscrowd=True, ltrb=False, ratio=False, masks=False, polygon_masks=False,
                 pixelwise_masks=False, size_threshold=0.1, skip_empty=False, random_shuffle=False, shard_id=0,
                 num_shards=1, initial_fill=1024, stick_to_shard=False, pad_last_batch=False,
                 shuffle_after_epoch=False, shuffle_after_epoch_seed=None, save_preprocessed_annotations=False,
                 preprocessed_annotations=None, seed=0):
        if save_preprocessed_annotations or preprocessed_annotations:
            raise absent("readers.coco(preprocessed_annotations=)", "files of DALI's own; annotations_file= is read")
        self.root, self.ltrb, self.ratio, self.ids = file_root, ltrb, ratio, image_ids
        self.polygons, self.pixels = masks or polygon_masks, pixelwise_masks
        if self.polygons and self.pixels:
            raise RuntimeError(got("readers.coco", "polygon_masks and pixelwise_masks", "one of them"))
        with open(annotations_file, encoding="utf-8") as file:
            told = json.load(file)
        numbers = sorted(one["id"] for one in told["categories"])
        self.label = {one: one if avoid_class_remapping else place for place, one in enumerate(numbers, 1)}
        objects = {}
        for one in told["annotations"]:
            if min(one["bbox"][2:]) >= size_threshold and (include_iscrowd or not one.get("iscrowd")):
                objects.setdefault(one["image_id"], []).append(one)
        pictures = {one["file_name"]: one for one in told["images"]}
        if images is not None:
            if missing := [name for name in images if name not in pictures]:
                raise RuntimeError(got("readers.coco", f"the image {missing[0]!r}", f"one of {annotations_file}"))
            pictures = {name: pictures[name] for name in images}
        rows = list(pictures.values()) if images is not None else sorted(pictures.values(), key=lambda one: one["id"])
        self.rows = [(one, objects.get(one["id"], [])) for one in rows if not skip_empty or one["id"] in objects]
        if not self.rows:
            raise RuntimeError(got("readers.coco", f"no pictures in {annotations_file}", "at least one"))
        super().__init__(len(self.rows), order_of(random_shuffle, shard_id, num_shards, initial_fill, stick_to_shard,
                                                  pad_last_batch, shuffle_after_epoch, shuffle_after_epoch_seed),
                         seed)

    def read(self, number):
        """Return a picture's bytes, its boxes, labels and masks."""
        picture, objects = self.rows[number]
        boxes = np.array([one["bbox"] for one in objects], np.float32).reshape(-1, 4)
        if self.ltrb:
            boxes[:, 2:] += boxes[:, :2]
        if self.ratio:
            boxes /= np.array([picture["width"], picture["height"]] * 2, np.float32)
        labels = np.array([self.label[one["category_id"]] for one in objects], np.int32)
        results = [read_bytes(os.path.join(self.root, picture["file_name"])), boxes, labels]
        if self.polygons:
            results += self._polygons(picture, objects)
        if self.pixels:
            results.append(self._pixels(picture, objects))
        if self.ids:
            results.append(np.array([picture["id"]], np.int32))
        return tuple(results), picture["file_name"]

    def _polygons(self, picture, objects):
        """Return (object, first vertex, behind the last one) of each polygon, and all vertices."""
        rows, vertices = [], []
        for place, one in enumerate(objects):
            if not isinstance(one.get("segmentation"), list):
                continue
            for polygon in one["segmentation"]:
                rows.append((place, len(vertices), len(vertices) + len(polygon) // 2))
                vertices += np.reshape(polygon, (-1, 2)).tolist()
        vertices = np.array(vertices, np.float32).reshape(-1, 2)
        if self.ratio:
            vertices /= np.array([picture["width"], picture["height"]], np.float32)
        return [np.array(rows, np.int32).reshape(-1, 3), vertices]

    def _pixels(self, picture, objects):
        """Return a picture of labels, in which later objects lie over earlier ones."""
        from PIL import Image, ImageDraw
        size = picture["width"], picture["height"]
        drawn = Image.new("I", size)
        for one in objects:
            label, outline = self.label[one["category_id"]], one.get("segmentation")
            if isinstance(outline, list):
                for polygon in outline:
                    ImageDraw.Draw(drawn).polygon(list(map(float, polygon)), fill=label)
            elif outline:
                mask = _runs(outline["counts"], size)
                drawn.paste(label, (0, 0), Image.fromarray(mask * np.uint8(255)))
        return np.asarray(drawn, np.int32)[..., None]


def _runs(counts, size):
    """Return the mask of run lengths, column by column, as numbers or in COCO's text."""
    if isinstance(counts, str):
        numbers, place = [], 0
        while place < len(counts):
            value, shift, more = 0, 0, True
            while more:
                digit = ord(counts[place]) - 48
                value |= (digit & 31) << shift
                more, place, shift = digit & 32, place + 1, shift + 5
            value -= (1 << shift) if digit & 16 else 0
            numbers.append(value + numbers[-2] if len(numbers) > 2 else value)
        counts = numbers
    values = np.arange(len(counts)) % 2
    return np.repeat(values, counts).reshape(size[0], size[1]).T.astype(np.uint8)


def _speech_outputs(arguments):
    return (1 + bool(arguments.get("read_sample_rate", True)) + bool(arguments.get("read_text", True))
            + bool(arguments.get("read_idxs", False)))


@operator("readers.nemo_asr", outputs=_speech_outputs, kind="source")
class NemoReader(Reader):
    """Read recordings and what is said in them, as manifests tell: a line of JSON for each."""

    def __init__(self, *, manifest_filepaths, downmix=True, dtype=9, min_duration=0.0, max_duration=0.0,
                 read_idxs=False, read_sample_rate=True, read_text=True, sample_rate=-1.0, quality=50.0,
                 random_shuffle=False, shard_id=0, num_shards=1, initial_fill=1024, stick_to_shard=False,
                 pad_last_batch=False, shuffle_after_epoch=False, shuffle_after_epoch_seed=None, seed=0):
        self.wanted = read_sample_rate, read_text, read_idxs
        self.options = {"downmix": downmix, "dtype": dtype, "sample_rate": max(sample_rate, 0), "quality": quality}
        self.rows = []
        for path in as_list(manifest_filepaths):
            with open(path, encoding="utf-8") as file:
                rows = [json.loads(line) for line in file if line.strip()]
            root = os.path.dirname(path)
            self.rows += [{**row, "path": os.path.join(root, row["audio_filepath"])} for row in rows
                          if row.get("duration", min_duration) >= min_duration
                          and (max_duration <= 0 or row.get("duration", 0) <= max_duration)]
        super().__init__(len(self.rows), order_of(random_shuffle, shard_id, num_shards, initial_fill, stick_to_shard,
                                                  pad_last_batch, shuffle_after_epoch, shuffle_after_epoch_seed,
                                                  mix_files=False), seed)

    def read(self, number):
        """Return a recording, its rate, its text and its number."""
        from dragon.vm.dali.core.operators.audio import decode_audio
        row = self.rows[number]
        sound, rate = decode_audio(read_bytes(row["path"]), **self.options)
        extra = rate, np.frombuffer(row.get("text", "").encode(), np.uint8), np.array(number, np.int64)
        return (sound, *(value for value, wanted in zip(extra, self.wanted) if wanted)), row["path"]
