"""Datasets that stand behind one another; the ready-made ones of PyTorch are not here."""
from dragon.vm.torch.core.missing import module_getattr

__getattr__ = module_getattr("torch.utils.data.datapipes", globals(), {"datapipe", "_decorator"})
