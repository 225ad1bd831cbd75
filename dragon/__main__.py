"""`python -m dragon`, the same as `dragon`."""
from dragon.command import main

if __name__ == "__main__":
    main()
