"""Clips of videos and data sets of them, beside genuine torchvision's."""
import importlib
import pickle
import sys
from types import SimpleNamespace

import genuine
import numpy
import pytest
from compare import same

tv = genuine.load()
import torch  # noqa: E402
import torchvision.datasets.samplers  # noqa: E402
from made_files import write  # noqa: E402

from dragon.vm import torch as dt  # noqa: E402
from dragon.vm.torchvision import datasets  # noqa: E402
from dragon.vm.torchvision.datasets import kinetics  # noqa: E402

BOTH = ((datasets, dt), (torchvision.datasets, torch))
METADATA = {"video_paths": ["a", "b", "c"], "video_fps": [30.0, 10.0, 24.0]}


@pytest.mark.parametrize("rate", [None, 15, 7.5, 24])
def test_clips(rate):
    found = []
    for module, tensor in BOTH:
        marks = [tensor.arange(length) for length in (40, 20, 3)]
        with pytest.warns(UserWarning, match="enough frames"):
            clips = module.video_utils.VideoClips(METADATA["video_paths"], 5, 3, rate, {**METADATA, "video_pts": marks})
            copied = pickle.loads(pickle.dumps(clips))
        assert copied.num_clips() == len(clips) and copied.metadata["video_paths"] == METADATA["video_paths"]
        sampler = module.samplers.UniformClipSampler(clips, 4)
        shared = module.samplers.DistributedSampler(sampler, num_replicas=3, rank=1, group_size=4)
        random = module.samplers.RandomClipSampler(clips, 2)
        assert len(list(random)) == len(random) == 4
        found.append(([clip.numpy() for clip in clips.clips], [clips.get_clip_location(place) for place in range(3)],
                      list(sampler), list(shared), len(sampler), len(shared), clips.subset([0]).num_clips()))
    same(found[0][0], found[1][0])
    assert found[0][1:] == found[1][1:]


def test_more_processes_than_items():
    shared = [datasets.samplers.DistributedSampler(range(2), 5, rank) for rank in range(5)]
    assert [list(one) for one in shared] == [[0], [1], [0], [1], [0]] and {len(one) for one in shared} == {1}


def test_clips_that_cannot_be():
    video_utils = datasets.video_utils
    with pytest.raises(ValueError, match="output_format"):
        video_utils.VideoClips([], output_format="CTHW")
    with pytest.raises(ValueError, match="1 dimension"):
        video_utils.unfold(dt.zeros(2, 2), 1, 1)
    with pytest.raises(ValueError, match="one length"):
        video_utils.VideoClips([], _precomputed_metadata={**METADATA, "video_pts": []})
    with pytest.raises(TypeError, match="VideoClips"):
        datasets.samplers.UniformClipSampler([1], 2)
    with pytest.raises(ValueError, match="multiplier"):
        datasets.samplers.DistributedSampler(range(5), 1, 0, group_size=2)
    assert video_utils.unfold(dt.arange(3), 5, 1).shape == (0, 5)


def test_videos_by_class(tmp_path):
    names = ("brush", "run")
    for name in names:
        write(tmp_path / f"videos/{name}/{name}_1.avi", "")
        write(tmp_path / f"lists/{name}_test_split2.txt", f"{name}_1.avi {1 + (name == 'run')} \n")
    write(tmp_path / "lists/trainlist02.txt", "brush/brush_1.avi 1\n")
    write(tmp_path / "lists/testlist02.txt", "run/run_1.avi\n")
    for kind in ("HMDB51", "UCF101"):
        for train in (True, False):
            found = []
            for module, tensor in BOTH:
                marks = {"video_paths": [str(tmp_path / f"videos/{name}/{name}_1.avi") for name in names],
                         "video_pts": [tensor.arange(9), tensor.arange(7)], "video_fps": [3.0, 3.0]}
                made = getattr(module, kind)(str(tmp_path / "videos"), str(tmp_path / "lists"), 4, fold=2, train=train,
                                             _precomputed_metadata=marks)
                found.append((len(made), made.indices, made.classes, made.samples))
            assert found[0] == found[1]
        with pytest.raises(ValueError, match="fold"):
            getattr(datasets, kind)(str(tmp_path / "videos"), str(tmp_path / "lists"), 4, fold=4)


def test_transforms_of_clips():
    import random
    for name in [name for name in sys.modules if name.startswith("dragon.vm.torchvision") and "_video" in name]:
        del sys.modules[name]  # it warns when it is imported, which another test may have done
    with pytest.warns(UserWarning, match="deprecated"):
        mine = importlib.import_module("dragon.vm.torchvision.transforms._transforms_video")
    import torchvision.transforms._transforms_video as theirs
    shown = torch.arange(2 * 3 * 9 * 8 * 3).reshape(6, 9, 8, 3).to(torch.uint8)
    chains = []
    for module, clip, package in ((mine, dt.tensor(shown.numpy()), dt), (theirs, shown, torch)):
        steps = [module.ToTensorVideo(), module.NormalizeVideo([0.1, 0.2, 0.3], [0.5, 0.4, 0.3]),
                 module.RandomCropVideo((8, 7)), module.RandomHorizontalFlipVideo(0.5), module.CenterCropVideo(6),
                 module.RandomResizedCropVideo(4, interpolation_mode="bicubic"), module.RandomResizedCropVideo((5, 4))]
        random.seed(3)
        package.manual_seed(3)
        found = []
        for step in steps:
            clip = step(clip)
            found.append(clip.numpy().copy())
        chains.append((found, [repr(step) for step in steps]))
        for wrong, kind in ((clip[0], ValueError), (clip.numpy(), TypeError)):
            with pytest.raises(kind):
                module.ToTensorVideo()(wrong)
        with pytest.raises(TypeError, match="uint8"):
            module.ToTensorVideo()(clip)
        with pytest.raises(ValueError, match="crop_size"):
            module.CenterCropVideo(99)(clip)
        with pytest.raises(ValueError, match="size"):
            module.RandomResizedCropVideo((1, 2, 3))
    assert chains[0][1] == chains[1][1]
    same(chains[0][0], chains[1][0], 1e-5, 1e-6)


def test_the_operators_are_there():
    from dragon.vm.torchvision import extension
    extension._assert_has_ops()
    assert extension._has_ops() and extension._load_library("_C") and not extension._load_library("other")
    assert extension._check_cuda_version() == -1


def test_clips_of_a_file(tmp_path):
    av = pytest.importorskip("av")
    with av.open(str(tmp_path / "a.avi"), "w") as file:
        stream = file.add_stream("mpeg4", rate=8)
        stream.width, stream.height, stream.pix_fmt = 32, 16, "yuv420p"
        for place in range(12):
            frame = av.VideoFrame.from_ndarray(numpy.full((16, 32, 3), 20 * place, "uint8"), format="rgb24")
            file.mux(stream.encode(frame))
        file.mux(stream.encode())
    clips = datasets.video_utils.VideoClips([str(tmp_path / "a.avi")], 4, 4, output_format="TCHW")
    assert len(clips) == 3 and clips.video_fps == [8.0]
    frames, sound, told, which = clips.get_clip(1)
    assert frames.shape == (4, 3, 16, 32) and frames.dtype == dt.uint8 and sound.shape == (1, 0)
    assert abs(frames.float().mean((1, 2, 3)) - dt.tensor([80.0, 100, 120, 140])).max() < 4
    assert told == {"video_fps": 8.0} and which == 0
    with pytest.raises(IndexError):
        clips.get_clip(3)


class Sound:
    """A file of one-second frames of sound, as PyAV shows it, that notes which of them are read."""

    def __init__(self, seconds):
        self.streams, self.seconds, self.seen = SimpleNamespace(audio=[SimpleNamespace(rate=4)], video=[]), seconds, []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def decode(self, audio):
        for second in range(self.seconds):
            self.seen.append(second)
            yield SimpleNamespace(time=second, format=SimpleNamespace(is_planar=True),
                                  to_ndarray=lambda: numpy.arange(4 * second, 4 * second + 4, dtype="float32")[None])


def test_sound_is_read_up_to_its_end(monkeypatch):
    from dragon.vm.torchvision.datasets import _videos
    file = Sound(100)
    monkeypatch.setattr(_videos, "_opened", lambda path: file)
    assert _videos.read_sound("a.mp4", 1.5, 3.25).tolist() == [[6.0, 7, 8, 9, 10, 11, 12]]
    assert file.seen == [0, 1, 2, 3, 4]
    with pytest.raises(RuntimeError, match="no frames in a.mp4"):
        _videos.measure("a.mp4")


def test_archives_of_videos_are_fetched_by_several_threads(tmp_path, monkeypatch):
    fetched = []
    monkeypatch.setattr(kinetics, "download_and_extract_archive", lambda *args: fetched.append(args))
    (tmp_path / "files").mkdir()
    urls = [f"https://nowhere/a b/{number}.tar.gz" for number in range(9)]
    (tmp_path / "files" / "k400_train_path.txt").write_text("\n".join(urls))
    videos = kinetics.Kinetics.__new__(kinetics.Kinetics)
    videos.root, videos.split, videos.num_classes, videos.num_download_workers = str(tmp_path), "train", "400", 3
    videos.split_folder = str(tmp_path / "train")
    videos._download_videos()
    assert sorted(url for url, _, _ in fetched) == [url.replace(" ", "%20") for url in urls]
    assert {one[1:] for one in fetched} == {
        (str(tmp_path / "tars"), str(tmp_path / "train"))}
    videos.num_download_workers = 0
    with pytest.raises(ValueError, match="expected one or more"):
        videos._download_videos()
