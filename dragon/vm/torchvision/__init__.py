"""torchvision's API on Dragon's engine; `dragon run` answers `import torchvision` with it."""
from dragon.vm.docstrings import Words as _Words
from dragon.vm.guest import FINISHED as _FINISHED
from dragon.vm.torchvision._words import WORDS as _WORDS

__version__ = "0.28.0"
_backends = {"image": "PIL", "video": "pyav"}
_FINISHED["torchvision"] = _Words("torchvision", _WORDS).finish


def _is_tracing():
    """Return whether `torch.jit.trace` or `torch.onnx.export` makes its call with the examples."""
    from dragon.vm.torch.jit import is_tracing
    return is_tracing()


def set_image_backend(backend):
    """Choose the package that loads images; only "PIL" is there."""
    if backend not in ("PIL", "accimage"):
        raise ValueError(f"Invalid backend '{backend}'. Options are 'PIL' and 'accimage'")
    if backend == "accimage":
        raise NotImplementedError("set_image_backend: got 'accimage', expected 'PIL'; Dragon loads images with Pillow")


def get_image_backend():
    """Return the name of the package that loads images."""
    return _backends["image"]


def set_video_backend(backend):
    """Refuse every video backend: Dragon reads no videos."""
    raise NotImplementedError(f"set_video_backend: got {backend!r}; Dragon reads no videos")


def get_video_backend():
    """Return the name of the video backend."""
    return _backends["video"]


def disable_beta_transforms_warning():
    """Do nothing; the warning it once silenced is gone."""
