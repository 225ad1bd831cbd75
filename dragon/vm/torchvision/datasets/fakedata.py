"""Noise that looks like a data set."""
from dragon.vm import torch
from dragon.vm.torchvision.datasets.vision import VisionDataset
from dragon.vm.torchvision.transforms.functional import to_pil_image


class FakeData(VisionDataset):
    """Images of noise, each always the same.

    Parameters
    ----------
    size : int, optional, default=1000
        How many.
    image_size : Tuple[int, int, int], optional, default=(3, 224, 224)
        Channels, height, width.
    num_classes : int, optional, default=10
        The classes.
    random_offset : int, optional, default=0
        Added to the index, which is the seed.

    """

    def __init__(self, size=1000, image_size=(3, 224, 224), num_classes=10, transform=None, target_transform=None,
                 random_offset=0):
        super().__init__(transform=transform, target_transform=target_transform)
        self.size, self.num_classes, self.image_size, self.random_offset = size, num_classes, image_size, random_offset

    def __getitem__(self, index):
        if index >= len(self):
            raise IndexError(f"{self.__class__.__name__} index out of range")
        state = torch.get_rng_state()
        torch.manual_seed(index + self.random_offset)
        noise = torch.randn(*self.image_size)
        target = torch.randint(0, self.num_classes, size=(1,), dtype=torch.long)[0]
        torch.set_rng_state(state)
        image, target = self._transformed(to_pil_image(noise), target)
        return image, target.item()

    def __len__(self):
        return self.size
