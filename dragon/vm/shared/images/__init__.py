"""Functions of images for both guests: geometry and colours."""
