"""Images from a satellite."""
from dragon.vm.torchvision.datasets._listed import ArchivedFolder, folder_of
from dragon.vm.torchvision.datasets.folder import default_loader


class EuroSAT(ArchivedFolder):
    """Images from a satellite, of 10 kinds of land.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `eurosat`.
    transform, target_transform, download, loader : optional
        As for `ImageFolder`.

    """

    def __init__(self, root, transform=None, target_transform=None, download=False, loader=default_loader):
        folder = folder_of(root, "eurosat")
        url = ("https://huggingface.co/datasets/torchgeo/eurosat/resolve/c877bcd43f099cd0196738f714544e355477f3fd/"
               "EuroSAT.zip")
        super().__init__(root, folder / "2750", folder / "2750", url, "c8fa014336c82ac7804f0398fcb19387", folder,
                         transform, target_transform, download, loader)
