"""Whole tensors of parts, under the name of PyTorch's file."""
from dragon.vm.torch.distributed.checkpoint.hf_storage import consolidate_safetensors_files  # noqa: F401
