"""Readers: where samples come from."""
from dragon.vm.dali.core import faces as _faces
from dragon.vm.dali.core import given as _given

globals().update(_faces.functions_of("readers", __name__))
globals().update(_faces.refuse("""
caffe: databases of LMDB; turn them into files or records first
caffe2: databases of LMDB; turn them into files or records first
video: Dragon reads no videos; readers.sequence reads frames from folders
video_resize: Dragon reads no videos; readers.sequence reads frames from folders
fits: astronomers' files; fn.python_function with a package that reads them
""", __name__))
tfrecord = _given.read_tfrecord
