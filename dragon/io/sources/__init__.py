"""Sources of samples: files of many formats, read by number (`Source`) or one sample after the other (`Stream`)."""
from dragon.core.places import look_up

__getattr__, __dir__ = look_up(globals(), {
    "dragon.io.source": "Source Stream",
    "arrays": "NumPyArray RawArray",
    "arrow": "Arrow Parquet write_arrow write_parquet",
    "example": "make_example parse_example",
    "folders": "PictureFolder",
    "lines": "CSV CSVStream JSONLines JSONLinesStream write_csv write_json_lines",
    "recordio": "RecordIO RecordIOWriter",
    "remote": "open_file",
    "tars": "TarWriter WebDataset WebDatasetStream",
    "tfrecord": "TFRecord TFRecordStream TFRecordWriter",
})
