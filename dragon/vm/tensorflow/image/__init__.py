"""`tf.image`: pictures resized, cut, turned, coloured, compared, read and written."""
from dragon.vm.guest import gather as _gather, lookup
from dragon.vm.tensorflow.image import (changes, coloring, framing, glimpses, proposals, quality, resizing,
                                        sampling, suppression)
from dragon.vm.tensorflow.image.resizing import ResizeMethod

_gather(globals(), changes, coloring, framing, glimpses, proposals, quality, resizing, sampling, suppression)
__getattr__, __dir__ = lookup(globals(), {
    "io": "decode_and_crop_jpeg decode_bmp decode_gif decode_image decode_jpeg decode_png decode_webp encode_jpeg "
          "encode_png extract_jpeg_shape is_jpeg",
})
