"""What tests ask of CUDA: `torch.testing._internal.common_cuda`."""
from dragon.vm import torch
from dragon.vm.torch.testing._internal._surroundings import TEST_CUDA, TEST_CUDNN, TEST_MULTIGPU  # noqa: F401

CUDA_DEVICE = torch.device("cuda:0") if TEST_CUDA else None
TEST_MAGMA, TEST_CUDNN_VERSION = False, 0
SM53OrLater = SM60OrLater = SM70OrLater = SM75OrLater = SM80OrLater = SM89OrLater = SM90OrLater = False
PLATFORM_SUPPORTS_FLASH_ATTENTION = PLATFORM_SUPPORTS_MEM_EFF_ATTENTION = PLATFORM_SUPPORTS_FUSED_ATTENTION = False
PLATFORM_SUPPORTS_CUDNN_ATTENTION = PLATFORM_SUPPORTS_BF16 = PLATFORM_SUPPORTS_FP8 = False


def tf32_is_not_fp32():
    """Return False: products of float32 are those of float32."""
    return False


def tf32_on_and_off(tf32_precision=1e-5, *, only_if=True):
    """Return a decorator that changes nothing: there is no TF32."""
    return lambda fn: fn


def with_tf32_off(f):
    """Return the function: there is no TF32."""
    return f
