"""keras.ops.image: images resized, moved, cut and recoloured."""
