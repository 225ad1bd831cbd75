"""Windows that slide over images: geometry, convolutions and pools, with channels last or first."""
