"""UCF101: videos of 101 kinds of human actions."""
import os

from dragon.vm.torchvision.datasets._clipped import FoldedVideos


class UCF101(FoldedVideos):
    """Clips (frames, sound, class) of videos of 101 kinds of human actions; see `HMDB51` for the arguments."""

    def _select_fold(self, video_list, annotation_path, fold, train):
        with open(os.path.join(annotation_path, f"{'train' if train else 'test'}list{fold:02d}.txt"),
                  encoding="utf-8") as file:
            names = {os.path.join(self.root, *line.split()[0].split("/")) for line in file if line.strip()}
        return [place for place, path in enumerate(video_list) if path in names]
