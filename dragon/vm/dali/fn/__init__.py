"""Functions of operators: the workday's door to them."""
from dragon.vm.dali.core import faces as _faces
from dragon.vm.dali.core import given as _given

globals().update(_faces.functions_of("", __name__))
globals().update(_faces.refuse("""
optical_flow: kernels for devices
clahe: equalize spreads values evenly, over the whole picture
debayer: fn.python_function with a package that reads what cameras' sensors give
ssd_random_crop: random_bbox_crop draws regions that keep boxes
jitter: a kernel for devices; warp_affine and noise.* move and change pixels
video_reader: Dragon reads no videos; readers.sequence reads frames from folders
caffe_reader: databases of LMDB; turn them into files or records first
caffe2_reader: databases of LMDB; turn them into files or records first
""", __name__))
# What older programs call operators that now stand in rooms of their own.
for _old, _new in {"image_decoder": "decoders.image", "image_decoder_crop": "decoders.image_crop",
                   "image_decoder_random_crop": "decoders.image_random_crop",
                   "image_decoder_slice": "decoders.image_slice", "audio_decoder": "decoders.audio",
                   "file_reader": "readers.file", "coco_reader": "readers.coco", "mxnet_reader": "readers.mxnet",
                   "numpy_reader": "readers.numpy", "sequence_reader": "readers.sequence",
                   "nemo_asr_reader": "readers.nemo_asr",
                   "coin_flip": "random.coin_flip", "uniform": "random.uniform",
                   "normal_distribution": "random.normal"}.items():
    _room, _, _last = _new.partition(".")
    globals()[_old] = _faces.functions_of(_room, __name__)[_last]
external_source, tfrecord_reader = _given.external_source, _given.read_tfrecord
fast_resize_crop_mirror = globals()["resize_crop_mirror"]
