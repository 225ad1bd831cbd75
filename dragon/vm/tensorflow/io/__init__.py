"""`tf.io`: files, records, pictures and bytes."""
from dragon.vm.guest import lookup as _lookup

__getattr__, __dir__ = _lookup(globals(), {
    "dragon.vm.shared.files.records": "TFRecordOptions TFRecordWriter",
    "core.examples.parsing": "FixedLenFeature VarLenFeature FixedLenSequenceFeature RaggedFeature SparseFeature",
    ".examples": "parse_example parse_single_example parse_single_sequence_example parse_sequence_example "
                 "decode_json_example",
    ".pictures": "decode_jpeg decode_png decode_bmp decode_gif decode_webp decode_image decode_and_crop_jpeg "
                 "encode_jpeg encode_png is_jpeg extract_jpeg_shape",
    ".sparse": "deserialize_many_sparse serialize_many_sparse serialize_sparse",
    ".files": "read_file write_file matching_files match_filenames_once",
    "core.protos": "write_graph",
    ".encoding": "decode_raw decode_csv decode_compressed decode_base64 encode_base64 serialize_tensor parse_tensor",
})
