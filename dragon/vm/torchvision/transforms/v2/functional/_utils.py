"""The table of the functions that do an operation, by class of input."""
import functools
import inspect

from dragon.vm import torch
from dragon.vm.torchvision import tv_tensors
from dragon.vm.torchvision._pillow import Image
from dragon.vm.torchvision.transforms.functional import InterpolationMode, _interpolation_modes_from_int

_KERNEL_REGISTRY = {}
FUNCTIONALS = {}  # by name; the package, which has them all, fills it
_BUILTIN = (tv_tensors.Image, tv_tensors.Video, tv_tensors.BoundingBoxes, tv_tensors.Mask, tv_tensors.KeyPoints)


def is_pure_tensor(inpt):
    """Return whether a thing is a tensor that does not say what it is."""
    return isinstance(inpt, torch.Tensor) and not isinstance(inpt, tv_tensors.TVTensor)


def _rewrapped(kernel, several=False):
    @functools.wraps(kernel)
    def call(inpt, *args, **kwargs):
        output = kernel(inpt.as_subclass(torch.Tensor), *args, **kwargs)
        if several:
            return type(output)(tv_tensors.wrap(item, like=inpt) for item in output)
        return tv_tensors.wrap(output, like=inpt)
    return call


def _of_boxes(kernel, wanted, signature):
    """Return a kernel that gets a tensor and the particulars, and may return a new canvas size beside the tensor.

    It is called with the arguments of images, whose signature is told, and leaves out those it does not have.
    """
    taken = inspect.signature(kernel).parameters

    @functools.wraps(kernel)
    def call(inpt, *args, **kwargs):
        try:
            given = signature.bind(inpt, *args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"{kernel.__name__}: {error}") from None
        given = {name: value for name, value in given.items() if name in taken}
        own = {name: getattr(inpt, name) for name in wanted if name in taken}
        output = kernel(inpt.as_subclass(torch.Tensor), **given, **own)
        if isinstance(output, tuple):
            return tv_tensors.wrap(output[0], like=inpt, canvas_size=tuple(output[1]))
        return tv_tensors.wrap(output, like=inpt)
    return call


def functional(name, image, pillow=None, mask=None, boxes=None, points=None, several=False, video=True):
    """Return the function that asks for an input's class, and note who does it for which.

    Parameters
    ----------
    name : str
        The function's name.
    image : Callable
        Does it for tensors, images and videos; its signature is the function's.
    pillow : Callable, optional
        Does it for images of Pillow.
    mask, boxes, points : Callable, optional
        Do it for masks, boxes and keypoints; the last two are given the canvas and the format by name.
    several : bool, optional, default=False
        Whether a tuple of images comes out.
    video : bool, optional, default=True
        Whether videos count as images.

    Returns
    -------
    Callable
        The function.

    """
    def call(inpt, *args, **kwargs):
        torch._C._log_api_usage_once(used)
        return _get_kernel(call, type(inpt))(inpt, *args, **kwargs)
    used = f"torchvision.transforms.v2.functional.{name}"
    call.__name__ = call.__qualname__ = name
    call.__doc__, call.__signature__ = image.__doc__, inspect.signature(image)
    call.__module__ = "torchvision.transforms.v2.functional"
    registry = {torch.Tensor: image, tv_tensors.Image: _rewrapped(image, several)}
    if video:
        registry[tv_tensors.Video] = registry[tv_tensors.Image]
    if pillow is not None:
        registry[Image.Image] = pillow
    if mask is not None:
        registry[tv_tensors.Mask] = _of_boxes(mask, (), call.__signature__)
    if boxes is not None:
        registry[tv_tensors.BoundingBoxes] = _of_boxes(boxes, ("format", "canvas_size", "clamping_mode"),
                                                       call.__signature__)
    if points is not None:
        registry[tv_tensors.KeyPoints] = _of_boxes(points, ("canvas_size",), call.__signature__)
    _KERNEL_REGISTRY[call] = registry
    return call


def register_kernel(functional, tv_tensor_cls):
    """Return a decorator that has a function do an operation for a class of one's own."""
    if isinstance(functional, str):
        if functional not in FUNCTIONALS:
            raise ValueError(f"Could not find functional with name '{functional}' in "
                             "torchvision.transforms.v2.functional.")
        functional = FUNCTIONALS[functional]
    elif functional not in _KERNEL_REGISTRY:
        raise ValueError("Kernels can only be registered on functionals from the torchvision.transforms.v2.functional "
                         f"namespace, but got {functional}.")
    if not (isinstance(tv_tensor_cls, type) and issubclass(tv_tensor_cls, tv_tensors.TVTensor)):
        raise ValueError("Kernels can only be registered for subclasses of torchvision.tv_tensors.TVTensor, but got "
                         f"{tv_tensor_cls}.")
    if tv_tensor_cls in _BUILTIN:
        raise ValueError(f"Kernels cannot be registered for the builtin tv_tensor classes, but got {tv_tensor_cls}")
    return _register_kernel_internal(functional, tv_tensor_cls, tv_tensor_wrapper=False)


def _register_kernel_internal(functional, input_type, *, tv_tensor_wrapper=True):
    """Return a decorator that has a function do an operation for any class; what it gets may be a plain tensor."""
    registry = _KERNEL_REGISTRY.setdefault(functional, {})
    if input_type in registry:
        raise ValueError(f"Functional {functional} already has a kernel registered for type {input_type}.")

    def decorate(kernel):
        wrapped = tv_tensor_wrapper and issubclass(input_type, tv_tensors.TVTensor)
        registry[input_type] = _rewrapped(kernel) if wrapped else kernel
        return kernel
    return decorate


def _get_kernel(functional, input_type, *, allow_passthrough=False):
    registry = _KERNEL_REGISTRY.get(functional)
    if not registry:
        raise ValueError(f"No kernel registered for functional {functional.__name__}.")
    for kind in input_type.__mro__:
        if kind in registry:
            return registry[kind]
        if kind is tv_tensors.TVTensor:
            break
    if allow_passthrough:
        return lambda inpt, *args, **kwargs: inpt
    raise TypeError(f"Functional F.{functional.__name__} supports inputs of type {registry.keys()}, but got "
                    f"{input_type} instead.")


def check_interpolation(interpolation):
    """Return an interpolation given as such, by its name, or by Pillow's number."""
    if isinstance(interpolation, str):
        return InterpolationMode(interpolation.lower())
    if isinstance(interpolation, int):
        return _interpolation_modes_from_int(interpolation)
    if not isinstance(interpolation, InterpolationMode):
        raise ValueError("Argument interpolation should be an `InterpolationMode`, a string or a corresponding Pillow "
                         f"integer constant, but got {interpolation}.")
    return interpolation


def as_batch(function, image):
    """Return what a function of images (N, C, H, W) makes of images (..., C, H, W)."""
    if not isinstance(image, torch.Tensor):
        raise TypeError(f"{function.__qualname__.partition('.')[0]}: got {type(image).__name__}, expected a tensor")
    if image.ndim == 4:
        return function(image)
    made = function(image.reshape(-1, *image.shape[-3:]))
    return made.reshape(*image.shape[:-3], *made.shape[-3:])


def as_image(mask, function):
    """Return what a function of images makes of a mask, which may have no channels."""
    return function(mask.unsqueeze(0)).squeeze(0) if mask.ndim < 3 else function(mask)


def of_mask(name, kernel, **fixed):
    """Return what does with a mask as a kernel does with images, some of the arguments fixed."""
    first, *rest = inspect.signature(kernel).parameters.values()
    rest = [parameter for parameter in rest if parameter.name not in fixed]
    signature = inspect.Signature([first.replace(name="mask"), *rest])

    def call(*args, **kwargs):
        given = signature.bind(*args, **kwargs).arguments
        return as_image(given.pop("mask"), lambda image: kernel(image, **given, **fixed))
    call.__name__ = call.__qualname__ = f"{name}_mask"
    call.__doc__, call.__signature__ = kernel.__doc__.replace("image", "mask"), signature
    return call
