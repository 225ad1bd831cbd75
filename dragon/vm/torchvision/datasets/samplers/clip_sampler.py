"""Orders in which clips of videos are taken: at equal distances, at random, or shared among processes."""
import itertools
import math

from dragon.vm import torch
from dragon.vm.torch.utils.data import Sampler
from dragon.vm.torchvision.datasets.video_utils import VideoClips


class DistributedSampler(Sampler):
    """Take every n-th group of items, one of n processes each.

    Parameters
    ----------
    dataset : Sized
        The items, or a sampler of them.
    num_replicas : int, optional
        How many processes share them; those of the default group if it is not told.
    rank : int, optional
        Which of them this one is.
    shuffle : bool, optional, default=False
        Whether the order is that of a generator whose seed is the epoch.
    group_size : int, optional, default=1
        How many items in a row stay together.

    """

    def __init__(self, dataset, num_replicas=None, rank=None, shuffle=False, group_size=1):
        self.num_replicas = torch.distributed.get_world_size() if num_replicas is None else num_replicas
        self.rank = torch.distributed.get_rank() if rank is None else rank
        if len(dataset) % group_size != 0:
            raise ValueError("dataset length must be a multiplier of group size dataset length: "
                             f"{len(dataset)}, group size: {group_size}")
        self.dataset, self.group_size, self.shuffle, self.epoch = dataset, group_size, shuffle, 0
        self.num_group_samples = math.ceil(len(dataset) // group_size / self.num_replicas)
        self.num_samples = self.num_group_samples * group_size
        self.total_size = self.num_samples * self.num_replicas

    def __iter__(self):
        generator = torch.Generator()
        generator.manual_seed(self.epoch)
        count = len(self.dataset)
        indices = torch.randperm(count, generator=generator).tolist() if self.shuffle else list(range(count))
        indices = list(itertools.islice(itertools.cycle(indices), self.total_size))  # all processes get as many
        groups = [indices[start:start + self.group_size] for start in range(0, self.total_size, self.group_size)]
        mine = [index for group in groups[self.rank::self.num_replicas] for index in group]
        if isinstance(self.dataset, Sampler):
            items = list(self.dataset)
            mine = [items[index] for index in mine]
        return iter(mine)

    def __len__(self):
        return self.num_samples

    def set_epoch(self, epoch):
        """Have the next order be that of another epoch."""
        self.epoch = epoch


class _ClipSampler(Sampler):
    """The base of orders of clips."""

    def __init__(self, video_clips):
        if not isinstance(video_clips, VideoClips):
            raise TypeError(f"Expected video_clips to be an instance of VideoClips, got {type(video_clips)}")
        self.video_clips = video_clips

    def _lengths(self):
        """Yield (first clip, number of clips) of each video that has any."""
        start = 0
        for clips in self.video_clips.clips:
            if len(clips):
                yield start, len(clips)
            start += len(clips)


class UniformClipSampler(_ClipSampler):
    """Take clips of each video at equal distances.

    Parameters
    ----------
    video_clips : VideoClips
        The clips.
    num_clips_per_video : int
        How many of each video.

    """

    def __init__(self, video_clips, num_clips_per_video):
        super().__init__(video_clips)
        self.num_clips_per_video = num_clips_per_video

    def __iter__(self):
        places = [torch.linspace(start, start + length - 1, steps=self.num_clips_per_video).floor().to(torch.int64)
                  for start, length in self._lengths()]
        return iter(torch.cat(places).tolist())

    def __len__(self):
        return sum(self.num_clips_per_video for _ in self._lengths())


class RandomClipSampler(_ClipSampler):
    """Take some clips of each video at random.

    Parameters
    ----------
    video_clips : VideoClips
        The clips.
    max_clips_per_video : int
        How many of each video, or all if it has fewer.

    """

    def __init__(self, video_clips, max_clips_per_video):
        super().__init__(video_clips)
        self.max_clips_per_video = max_clips_per_video

    def __iter__(self):
        places = torch.cat([torch.randperm(length)[:self.max_clips_per_video] + start
                            for start, length in self._lengths()])
        return iter(places[torch.randperm(len(places))].tolist())

    def __len__(self):
        return sum(min(length, self.max_clips_per_video) for _, length in self._lengths())
