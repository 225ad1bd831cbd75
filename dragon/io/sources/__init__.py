"""Sources of samples: files of many formats, read by number (`Source`) or one sample after the other (`Stream`)."""
from dragon.core.places import look_up

__getattr__, __dir__ = look_up(globals(), {
    "dragon.io.source": "Source Stream",
    "dragon.io.sources.arrays": "NumPyArray RawArray",
    "dragon.io.sources.arrow": "Arrow Parquet write_arrow write_parquet",
    "dragon.io.sources.example": "make_example parse_example",
    "dragon.io.sources.folders": "PictureFolder",
    "dragon.io.sources.lines": "CSV CSVStream JSONLines JSONLinesStream write_csv write_json_lines",
    "dragon.io.sources.recordio": "RecordIO RecordIOWriter",
    "dragon.io.sources.remote": "open_file",
    "dragon.io.sources.tars": "TarWriter WebDataset WebDatasetStream",
    "dragon.io.sources.tfrecord": "TFRecord TFRecordStream TFRecordWriter",
})
