"""Data sets in local files."""
from dragon.vm.torchvision.datasets.cifar import CIFAR10, CIFAR100
from dragon.vm.torchvision.datasets.fakedata import FakeData
from dragon.vm.torchvision.datasets.folder import DatasetFolder, ImageFolder
from dragon.vm.torchvision.datasets.mnist import EMNIST, FashionMNIST, KMNIST, MNIST, QMNIST
from dragon.vm.torchvision.datasets.stl10 import STL10
from dragon.vm.torchvision.datasets.svhn import SVHN
from dragon.vm.torchvision.datasets.vision import VisionDataset
