"""Print the paths that a build reads, as pyproject.toml tells them of a source distribution."""
from requirements import read_project

if __name__ == "__main__":
    print(*(path.lstrip("/") for path in read_project()["tool"]["scikit-build"]["sdist"]["include"]))
