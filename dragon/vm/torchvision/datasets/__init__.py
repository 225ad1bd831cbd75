"""Data sets in local files."""
from dragon.vm.guest import lookup as _lookup
from dragon.vm.torchvision.datasets._optical_flow import FlyingChairs, FlyingThings3D, HD1K, KittiFlow, Sintel
from dragon.vm.torchvision.datasets._stereo_matching import (CarlaStereo, CREStereo, ETH3DStereo, FallingThingsStereo,
                                                             InStereo2k, Kitti2012Stereo, Kitti2015Stereo,
                                                             Middlebury2014Stereo, SceneFlowStereo, SintelStereo)
from dragon.vm.torchvision.datasets.caltech import Caltech101, Caltech256
from dragon.vm.torchvision.datasets.celeba import CelebA
from dragon.vm.torchvision.datasets.cifar import CIFAR10, CIFAR100
from dragon.vm.torchvision.datasets.cityscapes import Cityscapes
from dragon.vm.torchvision.datasets.clevr import CLEVRClassification
from dragon.vm.torchvision.datasets.coco import CocoCaptions, CocoDetection
from dragon.vm.torchvision.datasets.country211 import Country211
from dragon.vm.torchvision.datasets.dtd import DTD
from dragon.vm.torchvision.datasets.eurosat import EuroSAT
from dragon.vm.torchvision.datasets.fakedata import FakeData
from dragon.vm.torchvision.datasets.fer2013 import FER2013
from dragon.vm.torchvision.datasets.fgvc_aircraft import FGVCAircraft
from dragon.vm.torchvision.datasets.flickr import Flickr30k, Flickr8k
from dragon.vm.torchvision.datasets.flowers102 import Flowers102
from dragon.vm.torchvision.datasets.folder import DatasetFolder, ImageFolder
from dragon.vm.torchvision.datasets.food101 import Food101
from dragon.vm.torchvision.datasets.gtsrb import GTSRB
from dragon.vm.torchvision.datasets.hmdb51 import HMDB51
from dragon.vm.torchvision.datasets.imagenet import ImageNet
from dragon.vm.torchvision.datasets.imagenette import Imagenette
from dragon.vm.torchvision.datasets.inaturalist import INaturalist
from dragon.vm.torchvision.datasets.kinetics import Kinetics
from dragon.vm.torchvision.datasets.kitti import Kitti
from dragon.vm.torchvision.datasets.lfw import LFWPairs, LFWPeople
from dragon.vm.torchvision.datasets.lsun import LSUN, LSUNClass
from dragon.vm.torchvision.datasets.mnist import EMNIST, FashionMNIST, KMNIST, MNIST, QMNIST
from dragon.vm.torchvision.datasets.moving_mnist import MovingMNIST
from dragon.vm.torchvision.datasets.omniglot import Omniglot
from dragon.vm.torchvision.datasets.oxford_iiit_pet import OxfordIIITPet
from dragon.vm.torchvision.datasets.pcam import PCAM
from dragon.vm.torchvision.datasets.phototour import PhotoTour
from dragon.vm.torchvision.datasets.places365 import Places365
from dragon.vm.torchvision.datasets.rendered_sst2 import RenderedSST2
from dragon.vm.torchvision.datasets.sbd import SBDataset
from dragon.vm.torchvision.datasets.sbu import SBU
from dragon.vm.torchvision.datasets.semeion import SEMEION
from dragon.vm.torchvision.datasets.stanford_cars import StanfordCars
from dragon.vm.torchvision.datasets.stl10 import STL10
from dragon.vm.torchvision.datasets.sun397 import SUN397
from dragon.vm.torchvision.datasets.svhn import SVHN
from dragon.vm.torchvision.datasets.ucf101 import UCF101
from dragon.vm.torchvision.datasets.usps import USPS
from dragon.vm.torchvision.datasets.vision import VisionDataset
from dragon.vm.torchvision.datasets.voc import VOCDetection, VOCSegmentation
from dragon.vm.torchvision.datasets.widerface import WIDERFace

__getattr__, __dir__ = _lookup(globals(), {
    "dragon.vm.torchvision.tv_tensors._dataset_wrapper": "wrap_dataset_for_transforms_v2"})
