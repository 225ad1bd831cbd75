"""Readers: where samples come from."""
from dragon.vm.dali.core import faces as _faces
from dragon.vm.dali.core.dynamic.readers import readers_of as _readers_of

globals().update(_readers_of(__name__))
globals().update(_faces.refuse("""
Caffe: databases of LMDB; turn them into files or records first
Caffe2: databases of LMDB; turn them into files or records first
Video: Dragon reads no videos; readers.Sequence reads frames from folders
VideoResize: Dragon reads no videos; readers.Sequence reads frames from folders
""", __name__))
