"""Models for classes of videos."""
from dragon.vm.torchvision.models.video.mvit import (MViT, mvit_v1_b, MViT_V1_B_Weights, mvit_v2_s,  # noqa: F401
                                                     MViT_V2_S_Weights)
from dragon.vm.torchvision.models.video.resnet import (mc3_18, MC3_18_Weights, r2plus1d_18,  # noqa: F401
                                                       R2Plus1D_18_Weights, r3d_18, R3D_18_Weights, VideoResNet)
from dragon.vm.torchvision.models.video.s3d import S3D, s3d, S3D_Weights  # noqa: F401
from dragon.vm.torchvision.models.video.swin_transformer import (  # noqa: F401
    swin3d_b, Swin3D_B_Weights, swin3d_s, Swin3D_S_Weights, swin3d_t, Swin3D_T_Weights, SwinTransformer3d)
