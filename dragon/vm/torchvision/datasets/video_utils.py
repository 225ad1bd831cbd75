"""Clips of videos: runs of frames of one length."""
import bisect
import math

from dragon.core import warnings
from dragon.core.progress import Progress
from dragon.vm import torch
from dragon.vm.torchvision.datasets import _videos


def unfold(tensor, size, step, dilation=1):
    """Return windows of a vector, as views.

    Parameters
    ----------
    tensor : Tensor
        A vector.
    size : int
        The elements of a window.
    step : int
        From one window's first element to the next one's.
    dilation : int, optional, default=1
        From one element to the next within a window.

    Returns
    -------
    Tensor
        The windows, of shape (N, size).

    """
    if tensor.dim() != 1:
        raise ValueError(f"tensor should have 1 dimension instead of {tensor.dim()}")
    stride = tensor.stride(0)
    count = max((tensor.numel() - (dilation * (size - 1) + 1)) // step + 1, 0)
    return torch.as_strided(tensor, (count, size), (step * stride, dilation * stride))


class _VideoTimestampsDataset:
    """What there is to know of the frames of each video: their numbers, and how many a second shows."""

    def __init__(self, video_paths):
        self.video_paths = video_paths

    def __len__(self):
        return len(self.video_paths)

    def __getitem__(self, idx):
        count, rate = _videos.measure(self.video_paths[idx])
        return list(range(count)), rate


def _collate_fn(x):
    return x


class VideoClips:
    """Clips of a list of videos; PyAV reads them.

    Parameters
    ----------
    video_paths : Sequence[str]
        The files.
    clip_length_in_frames : int, optional, default=16
        The frames of a clip.
    frames_between_clips : int, optional, default=1
        From one clip's first frame to the next one's.
    frame_rate : float, optional
        How many frames a second the clips shall have; the videos' own if it is not told.
    _precomputed_metadata : dict, optional
        What `metadata` of other clips said, which saves looking at the files.
    num_workers : int, optional, default=0
        How many processes look at the files.
    _video_width, _video_height, _video_min_dimension, _video_max_dimension : int, optional, default=0
        Kept for those who ask; frames come in their own size.
    _audio_samples, _audio_channels : int, optional, default=0
        Kept for those who ask; sound comes as it is.
    output_format : str, optional, default="THWC"
        "THWC" or "TCHW".

    """

    def __init__(self, video_paths, clip_length_in_frames=16, frames_between_clips=1, frame_rate=None,
                 _precomputed_metadata=None, num_workers=0, _video_width=0, _video_height=0, _video_min_dimension=0,
                 _video_max_dimension=0, _audio_samples=0, _audio_channels=0, output_format="THWC"):
        self.video_paths, self.num_workers = video_paths, num_workers
        self._video_width, self._video_height = _video_width, _video_height
        self._video_min_dimension, self._video_max_dimension = _video_min_dimension, _video_max_dimension
        self._audio_samples, self._audio_channels = _audio_samples, _audio_channels
        self.output_format = output_format.upper()
        if self.output_format not in ("THWC", "TCHW"):
            raise ValueError(f"output_format should be either 'THWC' or 'TCHW', got {output_format}.")
        if _precomputed_metadata is None:
            self._compute_frame_pts()
        else:
            self._init_from_metadata(_precomputed_metadata)
        self.compute_clips(clip_length_in_frames, frames_between_clips, frame_rate)

    def _compute_frame_pts(self):
        self.video_pts, self.video_fps = [], []
        batches = torch.utils.data.DataLoader(_VideoTimestampsDataset(self.video_paths), batch_size=16,
                                              num_workers=self.num_workers, collate_fn=_collate_fn)
        with Progress(total=len(batches), what="videos", unit="batch") as line:
            for batch in batches:
                self.video_pts += [torch.as_tensor(frames, dtype=torch.int64) for frames, _ in batch]
                self.video_fps += [rate for _, rate in batch]
                line.update(1)

    def _init_from_metadata(self, metadata):
        lengths = {name: len(metadata[name]) for name in ("video_paths", "video_pts", "video_fps")}
        if len(set(lengths.values())) != 1:
            raise ValueError(f"VideoClips: got metadata of lengths {lengths}, expected one length")
        self.video_paths, self.video_pts = metadata["video_paths"], metadata["video_pts"]
        self.video_fps = metadata["video_fps"]

    @property
    def metadata(self):
        """Return what was found out about the files."""
        return {"video_paths": self.video_paths, "video_pts": self.video_pts, "video_fps": self.video_fps}

    def subset(self, indices):
        """Return the clips of some of the videos."""
        metadata = {name: [values[index] for index in indices] for name, values in self.metadata.items()}
        return type(self)(metadata["video_paths"], self.num_frames, self.step, self.frame_rate, metadata,
                          self.num_workers, self._video_width, self._video_height, self._video_min_dimension,
                          self._video_max_dimension, self._audio_samples, self._audio_channels, self.output_format)

    @staticmethod
    def compute_clips_for_video(video_pts, num_frames, step, fps, frame_rate=None):
        """Return the frames' marks of each clip of a video, and where these frames are.

        Parameters
        ----------
        video_pts : Tensor
            A mark of each frame.
        num_frames : int
            The frames of a clip.
        step : int
            From one clip's first frame to the next one's.
        fps : float
            How many frames the video has a second.
        frame_rate : float, optional
            How many the clips shall have; the video's own if it is not told.

        Returns
        -------
        Tuple[Tensor, Union[Tensor, list]]
            Marks (N, num_frames), and indices of that shape or a slice for each clip.

        """
        fps = 1 if fps is None else fps
        frame_rate = fps if frame_rate is None else frame_rate
        total = math.floor(len(video_pts) * frame_rate / fps)
        places = VideoClips._resample_video_idx(total, fps, frame_rate)
        clips = unfold(video_pts[places], num_frames, step)
        if not clips.numel():
            warnings.warn("There aren't enough frames in the current video to get a clip for the given clip length and "
                          "frames between clips. The video (and potentially others) will be skipped.")
        return clips, [places] * len(clips) if isinstance(places, slice) else unfold(places, num_frames, step)

    def compute_clips(self, num_frames, step, frame_rate=None):
        """Cut the videos into other clips; see `compute_clips_for_video`."""
        self.num_frames, self.step, self.frame_rate = num_frames, step, frame_rate
        found = [self.compute_clips_for_video(marks, num_frames, step, rate, frame_rate)
                 for marks, rate in zip(self.video_pts, self.video_fps)]
        self.clips, self.resampling_idxs = [clips for clips, _ in found], [places for _, places in found]
        self.cumulative_sizes = torch.as_tensor([len(clips) for clips in self.clips]).cumsum(0).tolist()

    def __len__(self):
        return self.num_clips()

    def num_videos(self):
        """Return how many videos there are."""
        return len(self.video_paths)

    def num_clips(self):
        """Return how many clips there are, of all videos together."""
        return self.cumulative_sizes[-1]

    def get_clip_location(self, idx):
        """Return (which video, which of its clips) a clip is."""
        video = bisect.bisect_right(self.cumulative_sizes, idx)
        return video, idx if video == 0 else idx - self.cumulative_sizes[video - 1]

    @staticmethod
    def _resample_video_idx(num_frames, original_fps, new_fps):
        step = original_fps / new_fps
        if float(step).is_integer():
            return slice(None, None, int(step))  # whole steps cost no indices
        return (torch.arange(num_frames, dtype=torch.float32) * step).floor().to(torch.int64)

    def get_clip(self, idx):
        """Return (frames, sound, a dictionary with "video_fps", which video) of a clip."""
        if idx >= self.num_clips():
            raise IndexError(f"Index {idx} out of range ({self.num_clips()} number of clips)")
        video, clip = self.get_clip_location(idx)
        path, marks = self.video_paths[video], self.clips[video][clip]
        start, end = int(marks[0]), int(marks[-1]) + 1
        rate = self.video_fps[video]
        frames = _videos.read_frames(path, start, end)
        sound = _videos.read_sound(path, start / rate, end / rate)
        if self.frame_rate is not None:
            places = self.resampling_idxs[video][clip]
            frames = frames[places - places[0] if isinstance(places, torch.Tensor) else places]
            rate = self.frame_rate
        frames = frames.permute(0, 3, 1, 2) if self.output_format == "TCHW" else frames
        return frames, sound, {"video_fps": rate}, video

    def __getstate__(self):
        sizes = [len(marks) for marks in self.video_pts]
        joined = torch.cat([marks.to(torch.int64) for marks in self.video_pts]).numpy() if self.video_pts else []
        kept = {name: value for name, value in vars(self).items()
                if name not in ("clips", "resampling_idxs", "cumulative_sizes")}  # made anew
        return {**kept, "video_pts_sizes": sizes, "video_pts": joined, "_version": 2}

    def __setstate__(self, d):
        if "_version" in d:
            sizes = d.pop("video_pts_sizes")
            d["video_pts"] = torch.split(torch.as_tensor(d["video_pts"], dtype=torch.int64), sizes, dim=0)
            self.__dict__ = d
            self.compute_clips(self.num_frames, self.step, self.frame_rate)
        else:
            self.__dict__ = d
