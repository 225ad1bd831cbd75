"""Files of images."""
from dragon.vm.torch.core.missing import module_getattr as _module_getattr
from dragon.vm.torchvision.io.image import (ImageReadMode, decode_avif, decode_gif, decode_heic, decode_image,
                                            decode_jpeg, decode_png, decode_webp, encode_jpeg, encode_png, read_file,
                                            read_image, write_file, write_jpeg, write_png)

__getattr__ = _module_getattr("torchvision.io", globals())
