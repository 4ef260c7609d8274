#!/bin/sh
# Install KenLM into the environment of an interpreter: tests/install_kenlm.sh PYTHON [PIP OPTION...]
# It is published as source alone. A C++ compiler and the C headers of Python are needed; pip brings CMake.
set -eu
python=$1
shift
command -v "${CXX:-c++}" > /dev/null || { echo 'a C++ compiler is needed, to build KenLM' >&2; exit 1; }
if "$python" -c 'import sys; sys.exit(sys.version_info >= (3, 13))'; then
	exec "$python" -m pip install "$@" 'kenlm>=0.3,<0.4'
fi
# The published C++, which Cython 0.29 made, uses functions that Python 3.13 no longer has: Cython 3 makes it again.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$python" -m pip download "$@" --no-deps --no-binary kenlm --dest "$folder" 'kenlm>=0.3,<0.4'
"$python" -m pip install "$@" --target "$folder/cython" 'cython>=3,<4'
tar -xzf "$folder"/kenlm-*.tar.gz -C "$folder"
PYTHONPATH=$folder/cython "$python" -m cython -3 --cplus "$folder"/kenlm-*/python/kenlm.pyx
"$python" -m pip install "$@" "$folder"/kenlm-*/
