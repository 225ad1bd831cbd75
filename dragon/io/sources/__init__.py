"""Sources of samples: files of many formats, read by number (`Source`) or one sample after the other (`Stream`)."""
from dragon.io.sources.source import Source, Stream
