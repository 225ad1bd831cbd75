"""What both guests do with images: geometry and colours."""
