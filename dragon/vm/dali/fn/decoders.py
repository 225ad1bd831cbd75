"""Decoders: pictures and sounds out of files."""
from dragon.vm.dali.core import faces as _faces

globals().update(_faces.functions_of("decoders", __name__))
globals().update(_faces.refuse("""
video: Dragon reads no videos; readers.sequence reads frames from folders
inflate: blocks of LZ4; fn.python_function with a package that reads them
""", __name__))
