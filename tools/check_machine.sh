# Tell what a machine lacks for building Dragon, all of it at once and before anything is downloaded or compiled.
#   sh tools/check_machine.sh [PYTHON]      status 0, or 1 with a letter; CXX names another compiler than g++
python=${1:-python3}
compiler=${CXX:-c++}
missing=""
debian=""
fedora=""

lack() {  # what, expected, package of Debian, package of Fedora
  missing="$missing
  $1: $2"
  debian="$debian $3"
  fedora="$fedora $4"
}

if ! command -v "$python" >/dev/null 2>&1; then
  lack "no $python" "expected Python 3.10 or later" "python3 python3-dev python3-venv" "python3 python3-devel"
else
  version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))'; then
    lack "Python $version" "expected 3.10 or later; make PYTHON=/path/to/python3.12 names another" "" ""
  fi
  if ! "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
    lack "no venv module for Python $version" "expected one, for the environment in .venv" "python$version-venv" "python3-pip"
  fi
  header=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h
  if [ ! -f "$header" ]; then
    lack "no $header" "expected the headers of Python $version" "python$version-dev" "python3-devel"
  fi
fi

if ! command -v "$compiler" >/dev/null 2>&1; then
  lack "no compiler $compiler" "expected g++ 12 or later; CXX=/path/to/g++ names another" "g++" "gcc-c++"
elif ! printf '#include <bit>\n#include <omp.h>\n#if __cplusplus < 202002L\n#error old\n#endif\ntemplate <typename T> concept Any = true;\nint main() { return omp_get_max_threads() == 0; }\n' |
  "$compiler" -x c++ -std=c++20 -fopenmp -fsyntax-only - >/dev/null 2>&1; then
  lack "$("$compiler" --version 2>/dev/null | head -n 1)" "expected a compiler of C++20 with OpenMP, such as g++ 12 or later" "g++" "gcc-c++"
fi

if [ -n "$missing" ]; then
  {
    echo "dragon: this machine cannot build it yet. Got$missing"
    case "$debian" in *[a-z]*) echo "  Debian, Ubuntu:  sudo apt install$debian" ;; esac
    case "$fedora" in *[a-z]*) echo "  Fedora, RHEL:    sudo dnf install$fedora" ;; esac
  } >&2
  exit 1
fi
