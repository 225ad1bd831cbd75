"""Data sets in local files."""
from dragon.vm.torchvision.datasets._by_folders import Country211, EuroSAT, Imagenette, RenderedSST2
from dragon.vm.torchvision.datasets._by_lists import (CLEVRClassification, DTD, FGVCAircraft, Flowers102, Food101,
                                                      GTSRB, StanfordCars, SUN397)
from dragon.vm.torchvision.datasets._small import FER2013, SEMEION, USPS
from dragon.vm.torchvision.datasets.caltech import Caltech101, Caltech256
from dragon.vm.torchvision.datasets.celeba import CelebA
from dragon.vm.torchvision.datasets.cifar import CIFAR10, CIFAR100
from dragon.vm.torchvision.datasets.cityscapes import Cityscapes
from dragon.vm.torchvision.datasets.coco import CocoCaptions, CocoDetection
from dragon.vm.torchvision.datasets.fakedata import FakeData
from dragon.vm.torchvision.datasets.folder import DatasetFolder, ImageFolder
from dragon.vm.torchvision.datasets.imagenet import ImageNet
from dragon.vm.torchvision.datasets.mnist import EMNIST, FashionMNIST, KMNIST, MNIST, QMNIST
from dragon.vm.torchvision.datasets.oxford_iiit_pet import OxfordIIITPet
from dragon.vm.torchvision.datasets.stl10 import STL10
from dragon.vm.torchvision.datasets.svhn import SVHN
from dragon.vm.torchvision.datasets.vision import VisionDataset
from dragon.vm.torchvision.datasets.voc import VOCDetection, VOCSegmentation
