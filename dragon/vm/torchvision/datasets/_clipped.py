"""What data sets of videos by class stand on."""
from dragon.vm.torchvision.datasets.folder import find_classes, make_dataset
from dragon.vm.torchvision.datasets.video_utils import VideoClips
from dragon.vm.torchvision.datasets.vision import VisionDataset

EXTENSIONS = ("avi",)


class FoldedVideos(VisionDataset):
    """The base of data sets of videos, in folders by class, some of which are for training in each of three folds.

    A class tells which videos a fold has (`_select_fold`); see `HMDB51` for the arguments.

    """

    def __init__(self, root, annotation_path, frames_per_clip, step_between_clips=1, frame_rate=None, fold=1,
                 train=True, transform=None, _precomputed_metadata=None, num_workers=1, _video_width=0,
                 _video_height=0, _video_min_dimension=0, _audio_samples=0, output_format="THWC"):
        super().__init__(root)
        if fold not in (1, 2, 3):
            raise ValueError(f"fold should be between 1 and 3, got {fold}")
        self.fold, self.train, self.transform = fold, train, transform
        self.classes, class_to_idx = find_classes(self.root)
        self.samples = make_dataset(self.root, class_to_idx, EXTENSIONS)
        paths = [path for path, _ in self.samples]
        self.full_video_clips = VideoClips(
            paths, frames_per_clip, step_between_clips, frame_rate, _precomputed_metadata, num_workers=num_workers,
            _video_width=_video_width, _video_height=_video_height, _video_min_dimension=_video_min_dimension,
            _audio_samples=_audio_samples, output_format=output_format)
        self.indices = self._select_fold(paths, annotation_path, fold, train)
        self.video_clips = self.full_video_clips.subset(self.indices)

    @property
    def metadata(self):
        """Return what was found out about the files."""
        return self.full_video_clips.metadata

    def __len__(self):
        return self.video_clips.num_clips()

    def __getitem__(self, idx):
        video, audio, _, place = self.video_clips.get_clip(idx)
        target = self.samples[self.indices[place]][1]
        return video if self.transform is None else self.transform(video), audio, target
