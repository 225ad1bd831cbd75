"""Checkpoints that several processes write and read together, in PyTorch's files: a folder of shards, and a list."""
from dragon.vm.torch.core import absent
from dragon.vm.torch.distributed.checkpoint.api import CheckpointException  # noqa: F401
from dragon.vm.torch.distributed.checkpoint.default_planner import (DefaultLoadPlanner,  # noqa: F401
                                                                    DefaultSavePlanner)
from dragon.vm.torch.distributed.checkpoint.filesystem import FileSystemReader, FileSystemWriter  # noqa: F401
from dragon.vm.torch.distributed.checkpoint.hf_storage import (HuggingFaceStorageReader,  # noqa: F401
                                                               HuggingFaceStorageWriter)
from dragon.vm.torch.distributed.checkpoint.metadata import (BytesStorageMetadata, ChunkStorageMetadata,  # noqa: F401
                                                             Metadata, TensorStorageMetadata)
from dragon.vm.torch.distributed.checkpoint.planner import (LoadPlan, LoadPlanner, ReadItem, SavePlan,  # noqa: F401
                                                            SavePlanner, WriteItem)
from dragon.vm.torch.distributed.checkpoint.state_dict_loader import load, load_state_dict  # noqa: F401
from dragon.vm.torch.distributed.checkpoint.state_dict_saver import async_save, save, save_state_dict  # noqa: F401
from dragon.vm.torch.distributed.checkpoint.storage import StorageReader, StorageWriter  # noqa: F401

absent.fill(globals(), "distributed.checkpoint")
