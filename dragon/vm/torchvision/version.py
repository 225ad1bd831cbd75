"""The version of torchvision whose behaviour is followed."""
__version__ = "0.28.0"
cuda = None
