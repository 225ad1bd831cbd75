"""`dragon plan` of programs: a step that is run with shapes only, and what many processes would make of it."""
