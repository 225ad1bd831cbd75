"""What Dragon is called where packages are found, and its release: it is imported as `dragon`, installed as this."""
import pathlib

NAME = "dragon-engine"
VERSION = "0.1.0"


def install_words(extra=None):
    """Return the command that installs Dragon, as messages about a missing package write it.

    Parameters
    ----------
    extra : str, optional
        The extra that brings the package: a name of `[project.optional-dependencies]`.

    Returns
    -------
    str
        `pip install 'dragon-engine[onnx]'`; shells take the quotes off, and zsh needs them.

    """
    return f"pip install '{NAME}[{extra}]'" if extra else f"pip install {NAME}"


def find_cmake():
    """Return the folder that CMake's `find_package(dragon)` reads, for programs in C++.

    Returns
    -------
    str
        The folder: what `dragon_DIR` is to be.

    Raises
    ------
    FileNotFoundError
        Where Dragon runs from its sources: headers lie together with the libraries once it is installed.

    """
    folder = pathlib.Path(__file__).resolve().parents[1] / "cmake"
    if not (folder / "dragonConfig.cmake").is_file():
        raise FileNotFoundError(f"dragon: got no {folder / 'dragonConfig.cmake'}, expected an installed Dragon: "
                                "`make install` or `pip install .` puts headers and libraries together")
    return str(folder)
