"""Pictures of what Dragon does: pages complete by themselves, for notebooks, browsers and, as text, terminals."""
