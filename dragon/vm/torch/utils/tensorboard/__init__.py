"""Curves, pictures and texts for TensorBoard: `torch.utils.tensorboard`."""
from dragon.vm.torch.core.missing import module_getattr
from dragon.vm.torch.utils.tensorboard.records import RecordWriter
from dragon.vm.torch.utils.tensorboard.writer import FileWriter, SummaryWriter


__getattr__ = module_getattr("torch.utils.tensorboard", globals(), {"summary", "writer"})
