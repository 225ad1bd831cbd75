"""Kinetics: videos of 400, 600 or 700 kinds of human actions."""
import csv
import os
import urllib.parse

from dragon.io.stages.threads import map_in_threads
from dragon.vm.torchvision.datasets.folder import find_classes, make_dataset
from dragon.vm.torchvision.datasets.utils import (check_integrity, download_and_extract_archive, download_url,
                                                  verify_str_arg)
from dragon.vm.torchvision.datasets.video_utils import VideoClips
from dragon.vm.torchvision.datasets.vision import VisionDataset


class Kinetics(VisionDataset):
    """Clips (frames, sound, class) of videos of human actions.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds those of the splits, in which the classes have their folders.
    frames_per_clip : int
        The frames of a clip.
    num_classes : str, optional, default="400"
        "400", "600" or "700".
    split : str, optional, default="train"
        "train", "val" or "test".
    frame_rate, step_between_clips : optional
        As for `VideoClips`.
    transform : Callable, optional
        Applied to the frames.
    extensions : Tuple[str, ...], optional, default=("avi", "mp4")
        How names of videos end.
    download : bool, optional, default=False
        Whether to fetch files that are missing.
    num_download_workers : int, optional, default=1
        How many are fetched at a time.
    num_workers, _precomputed_metadata, _video_width, _video_height, _video_min_dimension : optional
        As for `VideoClips`.
    _audio_samples, _audio_channels : optional
        As for `VideoClips`.
    _legacy : bool, optional, default=False
        Whether the classes' folders lie in the root itself.
    output_format : str, optional, default="TCHW"
        "TCHW" or "THWC".

    """

    _BASE = "https://s3.amazonaws.com/kinetics/"
    _TAR_URLS = {"400": _BASE + "400/{split}/k400_{split}_path.txt", "600": _BASE + "600/{split}/k600_{split}_path.txt",
                 "700": _BASE + "700_2020/{split}/k700_2020_{split}_path.txt"}
    _ANNOTATION_URLS = {"400": _BASE + "400/annotations/{split}.csv", "600": _BASE + "600/annotations/{split}.csv",
                        "700": _BASE + "700_2020/annotations/{split}.csv"}

    def __init__(self, root, frames_per_clip, num_classes="400", split="train", frame_rate=None, step_between_clips=1,
                 transform=None, extensions=("avi", "mp4"), download=False, num_download_workers=1, num_workers=1,
                 _precomputed_metadata=None, _video_width=0, _video_height=0, _video_min_dimension=0, _audio_samples=0,
                 _audio_channels=0, _legacy=False, output_format="TCHW"):
        self.num_classes = verify_str_arg(num_classes, "num_classes", ["400", "600", "700"])
        self.extensions, self.num_download_workers, self._legacy = extensions, num_download_workers, _legacy
        super().__init__(root)
        if _legacy:
            self.split_folder, self.split, output_format = self.root, "unknown", "THWC"
            if download:
                raise ValueError("Cannot download the videos using legacy_structure.")
        else:
            self.split = verify_str_arg(split, "split", ["train", "val", "test"])
            self.split_folder = os.path.join(self.root, split)
        if download:
            self.download_and_process_videos()
        self.classes, class_to_idx = find_classes(self.split_folder)
        self.samples = make_dataset(self.split_folder, class_to_idx, extensions)
        self.video_clips = VideoClips(
            [path for path, _ in self.samples], frames_per_clip, step_between_clips, frame_rate, _precomputed_metadata,
            num_workers=num_workers, _video_width=_video_width, _video_height=_video_height,
            _video_min_dimension=_video_min_dimension, _audio_samples=_audio_samples, _audio_channels=_audio_channels,
            output_format=output_format)
        self.transform = transform

    def download_and_process_videos(self):
        """Fetch the videos, and put each into the folder of its class."""
        self._download_videos()
        self._make_ds_structure()

    def _download_videos(self):
        if os.path.exists(self.split_folder):
            return
        archives, lists = os.path.join(self.root, "tars"), os.path.join(self.root, "files")
        url = self._TAR_URLS[self.num_classes].format(split=self.split)
        path = os.path.join(lists, os.path.basename(url))
        if not check_integrity(path):
            download_url(url, lists)
        with open(path, encoding="utf-8") as file:
            urls = [urllib.parse.quote(line, safe="/,:") for line in file.read().splitlines()]
        for _ in map_in_threads(lambda one: download_and_extract_archive(one, archives, self.split_folder), iter(urls),
                                self.num_download_workers):
            pass

    def _make_ds_structure(self):
        folder = os.path.join(self.root, "annotations")
        path = os.path.join(folder, f"{self.split}.csv")
        if not check_integrity(path):
            download_url(self._ANNOTATION_URLS[self.num_classes].format(split=self.split), folder)
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            name = f"{row['youtube_id']}_{int(row['time_start']):06}_{int(row['time_end']):06}.mp4"
            label = row["label"].translate(str.maketrans(" ", "_", "'()"))
            os.makedirs(os.path.join(self.split_folder, label), exist_ok=True)
            there = os.path.join(self.split_folder, name)
            if os.path.isfile(there):
                os.replace(there, os.path.join(self.split_folder, label, name))

    @property
    def metadata(self):
        """Return what was found out about the files."""
        return self.video_clips.metadata

    def __len__(self):
        return self.video_clips.num_clips()

    def __getitem__(self, idx):
        video, audio, _, place = self.video_clips.get_clip(idx)
        return video if self.transform is None else self.transform(video), audio, self.samples[place][1]
