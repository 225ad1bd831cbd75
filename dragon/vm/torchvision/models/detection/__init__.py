"""Models that find objects in images."""
from dragon.vm.torchvision.models.detection.faster_rcnn import (  # noqa: F401
    FasterRCNN, fasterrcnn_mobilenet_v3_large_320_fpn, FasterRCNN_MobileNet_V3_Large_320_FPN_Weights,
    fasterrcnn_mobilenet_v3_large_fpn, FasterRCNN_MobileNet_V3_Large_FPN_Weights, fasterrcnn_resnet50_fpn,
    fasterrcnn_resnet50_fpn_v2, FasterRCNN_ResNet50_FPN_V2_Weights, FasterRCNN_ResNet50_FPN_Weights)
from dragon.vm.torchvision.models.detection.fcos import FCOS, fcos_resnet50_fpn, FCOS_ResNet50_FPN_Weights  # noqa: F401
from dragon.vm.torchvision.models.detection.keypoint_rcnn import (KeypointRCNN, keypointrcnn_resnet50_fpn,  # noqa: F401
                                                                  KeypointRCNN_ResNet50_FPN_Weights)
from dragon.vm.torchvision.models.detection.mask_rcnn import (  # noqa: F401
    MaskRCNN, maskrcnn_resnet50_fpn, maskrcnn_resnet50_fpn_v2, MaskRCNN_ResNet50_FPN_V2_Weights,
    MaskRCNN_ResNet50_FPN_Weights)
from dragon.vm.torchvision.models.detection.retinanet import (  # noqa: F401
    RetinaNet, retinanet_resnet50_fpn, retinanet_resnet50_fpn_v2, RetinaNet_ResNet50_FPN_V2_Weights,
    RetinaNet_ResNet50_FPN_Weights)
from dragon.vm.torchvision.models.detection.ssd import ssd300_vgg16, SSD300_VGG16_Weights  # noqa: F401
from dragon.vm.torchvision.models.detection.ssdlite import (ssdlite320_mobilenet_v3_large,  # noqa: F401
                                                            SSDLite320_MobileNet_V3_Large_Weights)
