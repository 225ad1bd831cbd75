"""Flickr: photographs with five sentences each."""
import glob
import os
from collections import defaultdict
from html.parser import HTMLParser

from dragon.vm.torchvision.datasets.folder import default_loader
from dragon.vm.torchvision.datasets.vision import VisionDataset


class Flickr8kParser(HTMLParser):
    """Read the page that tells the sentences of photographs.

    Parameters
    ----------
    root : Union[str, Path]
        The folder of the photographs.

    """

    def __init__(self, root):
        super().__init__()
        self.root, self.annotations = root, {}
        self.in_table, self.current_tag, self.current_img = False, None, None

    def handle_starttag(self, tag, attrs):
        """Note where the reader is."""
        self.current_tag = tag
        self.in_table = self.in_table or tag == "table"

    def handle_endtag(self, tag):
        """Note where the reader is."""
        self.current_tag = None
        self.in_table = self.in_table and tag != "table"

    def handle_data(self, data):
        """Note a photograph, which a link tells, or a sentence, an item of a list."""
        if not self.in_table:
            return
        if data == "Image Not Found":
            self.current_img = None
        elif self.current_tag == "a":
            self.current_img = glob.glob(os.path.join(self.root, data.split("/")[-2] + "_*.jpg"))[0]
            self.annotations[self.current_img] = []
        elif self.current_tag == "li" and self.current_img:
            self.annotations[self.current_img].append(data.strip())


class _Captioned(VisionDataset):
    """Photographs with a list of sentences each.

    Parameters
    ----------
    root : Union[str, Path]
        The folder of the photographs.
    ann_file : str
        The file of the sentences.
    transform, target_transform : Callable, optional
        Applied to the image, and to the sentences.
    loader : Callable, optional
        Opens an image file.

    """

    def __init__(self, root, ann_file, transform=None, target_transform=None, loader=default_loader):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.ann_file, self.loader = os.path.expanduser(ann_file), loader
        with open(self.ann_file, encoding="utf-8") as file:
            self.annotations = self._read(file)
        self.ids = sorted(self.annotations)

    def __getitem__(self, index):
        name = self.ids[index]
        return self._transformed(self.loader(os.path.join(self.root, name)), self.annotations[name])

    def __len__(self):
        return len(self.ids)


class Flickr8k(_Captioned):
    """Eight thousand photographs, whose sentences stand in a page; see `Flickr30k` for the arguments."""

    def _read(self, file):
        parser = Flickr8kParser(self.root)
        parser.feed(file.read())
        return parser.annotations


class Flickr30k(_Captioned):
    """Thirty thousand photographs, whose sentences stand in lines "photograph#number", a tab, and a sentence.

    Parameters
    ----------
    root : Union[str, Path]
        The folder of the photographs.
    ann_file : str
        The file of the sentences.
    transform, target_transform : Callable, optional
        Applied to the image, and to the sentences.
    loader : Callable, optional
        Opens an image file.

    """

    def _read(self, file):
        found = defaultdict(list)
        for line in file:
            name, sentence = line.strip().split("\t")
            found[name[:-2]].append(sentence)
        return found
