"""`tf.io`: files, records, pictures and bytes."""
from dragon.vm.tensorflow.core.missing import module_getattr as _module_getattr

_HOME = "dragon.vm.tensorflow.core"
_HOMES = {
    f"{_HOME}.records": "TFRecordOptions TFRecordWriter",
    f"{_HOME}.parsing": "FixedLenFeature VarLenFeature FixedLenSequenceFeature RaggedFeature SparseFeature",
    "dragon.vm.tensorflow.io.examples": "parse_example parse_single_example parse_single_sequence_example "
                                        "parse_sequence_example decode_json_example",
    "dragon.vm.tensorflow.io.pictures": "decode_jpeg decode_png decode_bmp decode_gif decode_webp decode_image "
                                        "decode_and_crop_jpeg encode_jpeg encode_png is_jpeg extract_jpeg_shape",
    "dragon.vm.tensorflow.io.files": "read_file write_file matching_files match_filenames_once",
    "dragon.vm.tensorflow.io.encoding": "decode_raw decode_csv decode_compressed decode_base64 encode_base64 "
                                        "serialize_tensor parse_tensor",
}
_places = {name: f"{module}:{name}" for module, names in _HOMES.items() for name in names.split()}
__getattr__ = _module_getattr("tensorflow.io", globals(), _places, ("gfile",))


def __dir__():
    return sorted({*globals(), *_places, "gfile"})
