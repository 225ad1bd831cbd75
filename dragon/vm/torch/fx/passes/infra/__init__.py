"""What passes are, and who runs them in order."""
