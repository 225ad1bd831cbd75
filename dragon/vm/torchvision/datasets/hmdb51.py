"""HMDB51: videos of 51 kinds of human actions."""
import glob
import os

from dragon.vm.torchvision.datasets._clipped import FoldedVideos


class HMDB51(FoldedVideos):
    """Clips (frames, sound, class) of videos of 51 kinds of human actions.

    Parameters
    ----------
    root : Union[str, Path]
        The folder of the classes' folders.
    annotation_path : str
        The folder of the lists.
    frames_per_clip, step_between_clips, frame_rate : optional
        As for `VideoClips`.
    fold : int, optional, default=1
        1 to 3.
    train : bool, optional, default=True
        The videos for training, or those for tests.
    transform : Callable, optional
        Applied to the frames.
    _precomputed_metadata, num_workers, _video_width, _video_height, _video_min_dimension, _audio_samples : optional
        As for `VideoClips`.
    output_format : str, optional, default="THWC"
        As for `VideoClips`.

    """

    data_url = "https://serre-lab.clps.brown.edu/wp-content/uploads/2013/10/hmdb51_org.rar"
    splits = {"url": "https://serre-lab.clps.brown.edu/wp-content/uploads/2013/10/test_train_splits.rar",
              "md5": "15e67781e70dcfbdce2d7dbb9b3344b5"}
    TRAIN_TAG, TEST_TAG = 1, 2

    def _select_fold(self, video_list, annotations_dir, fold, train):
        wanted, names = str(self.TRAIN_TAG if train else self.TEST_TAG), set()
        for path in glob.glob(os.path.join(annotations_dir, f"*test_split{fold}.txt")):
            with open(path, encoding="utf-8") as file:
                names.update(name for name, tag in map(str.split, file) if tag == wanted)
        return [place for place, path in enumerate(video_list) if os.path.basename(path) in names]
