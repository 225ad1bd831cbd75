"""Meshes of processes, under their former name."""
from dragon.vm.torch.distributed.device_mesh import DeviceMesh, init_device_mesh  # noqa: F401
