"""AlexNet."""
from dragon.vm import torch
from dragon.vm.torchvision.models._api import define

nn = torch.nn


class AlexNet(nn.Module):
    """Five convolutions and three linear layers.

    Parameters
    ----------
    dropout : float, optional, default=0.5
        The probability of zeroing before linear layers.

    """

    def __init__(self, num_classes=1000, dropout=0.5):
        super().__init__()

        def stage(*sizes, pool, **options):
            layers = [nn.Conv2d(*sizes, **options), nn.ReLU(inplace=True)]
            return layers + [nn.MaxPool2d(kernel_size=3, stride=2)] if pool else layers
        self.features = nn.Sequential(*stage(3, 64, pool=True, kernel_size=11, stride=4, padding=2),
                                      *stage(64, 192, pool=True, kernel_size=5, padding=2),
                                      *stage(192, 384, pool=False, kernel_size=3, padding=1),
                                      *stage(384, 256, pool=False, kernel_size=3, padding=1),
                                      *stage(256, 256, pool=True, kernel_size=3, padding=1))
        self.avgpool = nn.AdaptiveAvgPool2d((6, 6))
        self.classifier = nn.Sequential(nn.Dropout(p=dropout), nn.Linear(256 * 6 * 6, 4096), nn.ReLU(inplace=True),
                                        nn.Dropout(p=dropout), nn.Linear(4096, 4096), nn.ReLU(inplace=True),
                                        nn.Linear(4096, num_classes))

    def forward(self, x):
        return self.classifier(torch.flatten(self.avgpool(self.features(x)), 1))


define(globals(), "alexnet", "AlexNet", AlexNet)
