"""Pictures: rows of PyTorch's names."""
ROWS = """
channel_shuffle                         torch functional
native_channel_shuffle=channel_shuffle  functional
col2im                                  _nn
im2col                                  _nn
pixel_shuffle                           torch functional
pixel_unshuffle                         torch functional
"""
