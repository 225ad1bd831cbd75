"""Sources of samples: files of many formats, read by number (`Source`) or one sample after the other (`Stream`)."""
from dragon.io.sources.arrays import NumPyArray, RawArray
from dragon.io.sources.arrow import Arrow, Parquet, write_arrow, write_parquet
from dragon.io.sources.example import make_example, parse_example
from dragon.io.sources.folders import PictureFolder
from dragon.io.sources.lines import CSV, CSVStream, JSONLines, JSONLinesStream, write_csv, write_json_lines
from dragon.io.sources.recordio import RecordIO, RecordIOWriter
from dragon.io.sources.remote import open_file
from dragon.io.source import Source, Stream
from dragon.io.sources.tars import TarWriter, WebDataset, WebDatasetStream
from dragon.io.sources.tfrecord import TFRecord, TFRecordStream, TFRecordWriter
