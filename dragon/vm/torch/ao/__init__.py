"""Models of fewer bits."""
