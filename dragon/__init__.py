"""Dragon: one engine under many faces."""
