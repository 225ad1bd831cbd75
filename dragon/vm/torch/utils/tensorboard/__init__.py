"""Curves, pictures and texts for TensorBoard: `torch.utils.tensorboard`."""
from dragon.vm.torch.utils.tensorboard.records import RecordWriter
from dragon.vm.torch.utils.tensorboard.writer import FileWriter, SummaryWriter
