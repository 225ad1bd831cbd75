"""What a checkpoint's list of contents says: tensors, their parts, and the files where those lie."""
import os
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from dragon.vm import torch
from dragon.vm.torch.distributed.checkpoint.stateful import StatefulT

_FORMATS = ("contiguous_format", "channels_last", "preserve_format")


@dataclass
class ChunkStorageMetadata:
    """A part of a tensor.

    Parameters
    ----------
    offsets : torch.Size
        Where it begins.
    sizes : torch.Size
        Its shape.

    """

    offsets: torch.Size
    sizes: torch.Size


class _MEM_FORMAT_ENCODING(Enum):
    """Numbers of memory formats in files."""

    TORCH_CONTIGUOUS_FORMAT = 0
    TORCH_CHANNELS_LAST = 1
    TORCH_PRESERVE_FORMAT = 2


@dataclass
class TensorProperties:
    """What a tensor is made with, besides its shape.

    Parameters
    ----------
    dtype : torch.dtype, optional
        The dtype; the default one unless given.
    layout : torch.layout, optional, default=torch.strided
        Kept for old files.
    requires_grad : bool, optional, default=False
        Kept for old files.
    memory_format : torch.memory_format, optional, default=torch.contiguous_format
        Kept for old files.
    pin_memory : bool, optional, default=False
        Kept for old files.

    """

    dtype: Any = field(default_factory=lambda: torch.get_default_dtype())
    layout: Any = field(default_factory=lambda: torch.strided)
    requires_grad: bool = False
    memory_format: Any = field(default_factory=lambda: torch.contiguous_format)
    pin_memory: bool = False

    def __getstate__(self):
        for number, name in enumerate(_FORMATS):
            if self.memory_format == getattr(torch, name):
                encoded = _MEM_FORMAT_ENCODING(number)
                return self.dtype, self.layout, self.requires_grad, encoded, self.pin_memory
        raise RuntimeError(f"Invalid torch.memory_format: {self.memory_format}, expected one of {', '.join(_FORMATS)}")

    def __setstate__(self, state):
        self.dtype, self.layout, self.requires_grad, encoded, self.pin_memory = state
        self.memory_format = getattr(torch, _FORMATS[_MEM_FORMAT_ENCODING(encoded).value])

    @staticmethod
    def create_from_tensor(tensor):
        """Return the properties of a tensor."""
        return TensorProperties(tensor.dtype, tensor.layout, tensor.requires_grad, torch.contiguous_format,
                                tensor.is_pinned())


@dataclass
class TensorStorageMetadata:
    """A tensor in a checkpoint.

    Parameters
    ----------
    properties : TensorProperties
        What it is made with.
    size : torch.Size
        Its whole shape.
    chunks : List[ChunkStorageMetadata]
        The parts that were saved.

    """

    properties: TensorProperties
    size: torch.Size
    chunks: list


@dataclass
class BytesStorageMetadata:
    """An object in a checkpoint that is no tensor."""


STORAGE_TYPES = TensorStorageMetadata | BytesStorageMetadata
STATE_DICT_TYPE = dict[str, StatefulT | Any]


@dataclass
class StorageMeta:
    """Which checkpoint this is.

    Parameters
    ----------
    checkpoint_id : Union[str, os.PathLike], optional
        Where it lies.
    save_id : str, optional
        The name of this saving.
    load_id : str, optional
        The name of this loading.
    modules : List[str], optional
        Names of what is in it.

    """

    checkpoint_id: str | os.PathLike | None = None
    save_id: str | None = None
    load_id: str | None = None
    modules: list = field(default_factory=list)


@dataclass
class Metadata:
    """The list of a checkpoint's contents.

    Parameters
    ----------
    state_dict_metadata : Dict[str, Union[TensorStorageMetadata, BytesStorageMetadata]]
        What there is under each name.
    planner_data : Any, optional
        What a planner wants to find again: the paths of the names, in the default one.
    storage_data : Any, optional
        What a storage wants to find again: where each part lies.
    storage_meta : StorageMeta, optional
        Which checkpoint this is.
    version : str, optional
        The format's version.

    """

    state_dict_metadata: dict
    planner_data: Any = None
    storage_data: Any = None
    storage_meta: StorageMeta | None = None
    version: str | None = None


@dataclass(frozen=True)
class MetadataIndex:
    """The name of a thing, or of a part of it.

    Parameters
    ----------
    fqn : str
        The thing's name.
    offset : Sequence[int], optional
        Where a tensor's part begins.
    index : int, optional
        The part's number, where it is looked for first.

    """

    fqn: str
    offset: torch.Size | None = None
    index: int | None = field(hash=False, compare=False, default=None)

    def __init__(self, fqn, offset=None, index=None):
        object.__setattr__(self, "fqn", fqn)
        object.__setattr__(self, "index", index)
        object.__setattr__(self, "offset", None if offset is None else torch.Size(offset))
