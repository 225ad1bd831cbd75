"""The order and the place of calls: loops, checks, devices, and derivatives in a direction."""
