"""Readers of archives and sequences: tar files in WebDataset's form, and frames in folders."""
import os

import numpy as np

from dragon.io.sources.tar_files import walk_tar
from dragon.vm.dali.core.kinds import UINT8, to_numpy_type
from dragon.vm.dali.core.readers.files import order_of
from dragon.vm.dali.core.readers.reader import Reader
from dragon.vm.dali.core.readers.records import as_list
from dragon.vm.dali.core.refusals import got
from dragon.vm.dali.core.schema import operator

POLICIES = ("", "empty", "skip", "error")


def _split(name):
    """Return the sample's name and the extensions of a member: "a/b.seg.png" is "seg.png" of "a/b"."""
    folder, _, base = name.rpartition("/")
    stem, _, extension = base.partition(".")
    return (f"{folder}/{stem}" if folder else stem), extension


@operator("readers.webdataset", outputs=lambda arguments: len(as_list(arguments["ext"])), kind="source")
class WebdatasetReader(Reader):
    """Read the components of samples in tar files; those of one name stand together."""

    def __init__(self, *, paths, ext, index_paths=None, missing_component_behavior="", dtypes=None,
                 case_sensitive_extensions=True, random_shuffle=False, shard_id=0, num_shards=1, initial_fill=1024,
                 stick_to_shard=False, pad_last_batch=False, shuffle_after_epoch=False, shuffle_after_epoch_seed=None,
                 seed=0):
        if missing_component_behavior not in POLICIES:
            raise ValueError(got("readers.webdataset", missing_component_behavior, f"one of {POLICIES}"))
        self.exts = [one.split(";") for one in as_list(ext)]
        self.policy, self.exact = missing_component_behavior or "empty", case_sensitive_extensions
        self.kinds = [UINT8] * len(self.exts) if dtypes is None else (
            list(dtypes) if isinstance(dtypes, (list, tuple)) else [dtypes] * len(self.exts))
        if len(self.kinds) != len(self.exts):
            raise RuntimeError(got("readers.webdataset", f"{len(self.kinds)} dtypes", f"{len(self.exts)}"))
        # Archives are walked once, from head to head; an index would spare only that.
        self.samples = [sample for path in as_list(paths) for sample in self._walk(path)]
        super().__init__(len(self.samples), order_of(random_shuffle, shard_id, num_shards, initial_fill, stick_to_shard,
                                                     pad_last_batch, shuffle_after_epoch, shuffle_after_epoch_seed,
                                                     mix_files=False), seed)

    def _walk(self, path):
        name, parts = None, {}
        with open(path, "rb") as file:
            for member in walk_tar(lambda place, size: os.pread(file.fileno(), size, place), path):
                stem, extension = _split(member.name)
                if not extension or stem.rpartition("/")[2] == "":
                    continue
                if stem != name:
                    yield from self._sample(path, name, parts)
                    name, parts = stem, {}
                extension = extension if self.exact else extension.lower()
                parts.setdefault(extension, (member.offset, member.size))
            yield from self._sample(path, name, parts)

    def _sample(self, path, name, parts):
        if name is None:
            return
        places = [next((parts[one if self.exact else one.lower()] for one in names
                        if (one if self.exact else one.lower()) in parts), None) for names in self.exts]
        if None in places and self.policy == "error":
            raise RuntimeError(got("readers.webdataset", f"{name} in {path} without a component",
                                   f"all of {self.exts}"))
        if any(places) and (None not in places or self.policy == "empty"):
            yield path, name, places

    def read(self, number):
        """Return the components of a sample."""
        path, name, places = self.samples[number]
        results = []
        with open(path, "rb") as file:
            for place, kind in zip(places, self.kinds):
                data = b""
                if place is not None:
                    file.seek(place[0])
                    data = file.read(place[1])
                results.append(np.frombuffer(data, to_numpy_type(kind)))
        return tuple(results), f"{path}:{name}"


@operator("readers.sequence", kind="source")
class SequenceReader(Reader):
    """Read sequences of frames: the pictures of each folder, so many in a row."""

    def __init__(self, *, file_root, sequence_length, step=-1, stride=1, image_type=0, random_shuffle=False,
                 shard_id=0, num_shards=1, initial_fill=1024, stick_to_shard=False, pad_last_batch=False, seed=0):
        from dragon.vm.dali.core.operators.decoding import decode
        self.decode, self.kind = decode, image_type
        span = (sequence_length - 1) * stride + 1
        self.sequences = []
        for folder in sorted(entry.path for entry in os.scandir(file_root) if entry.is_dir()):
            frames = sorted(os.path.join(folder, name) for name in os.listdir(folder))
            for start in range(0, len(frames) - span + 1, step if step > 0 else sequence_length):
                self.sequences.append(frames[start:start + span:stride])
        super().__init__(len(self.sequences), order_of(random_shuffle, shard_id, num_shards, initial_fill,
                                                       stick_to_shard, pad_last_batch), seed)

    def read(self, number):
        """Return the frames of a sequence."""
        frames = []
        for path in self.sequences[number]:
            with open(path, "rb") as file:
                frames.append(self.decode(file.read(), self.kind))
        return (np.stack(frames),), self.sequences[number][0]

    def _values(self, number):
        from dragon.vm.dali.core.execution import Values
        results, source = self.read(number)
        return Values(list(results), ["FHWC"], source)
