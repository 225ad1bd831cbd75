"""What runs when and where: loops, checks, devices, and derivatives in a direction."""
