"""Functions of operators that were new in DALI once."""
from dragon.vm.dali.core import faces as _faces
from dragon.vm.dali.fn import decoders, readers

_all = _faces.functions_of("", __name__)
globals().update(_faces.refuse("""
median_blur: a kernel for devices; gaussian_blur blurs
dilate: a kernel for devices; fn.python_function takes functions of other packages
erode: a kernel for devices; fn.python_function takes functions of other packages
remap: a kernel for devices; fn.python_function takes functions of other packages
warp_perspective: a kernel for devices; warp_affine takes affine maps
""", __name__))
globals().update({name: _all[name] for name in "equalize filter tensor_resize audio_resample peek_image_shape".split()})
