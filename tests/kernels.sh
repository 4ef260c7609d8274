#!/bin/sh
# Run the fast tests of the subpackages with kernels in four ways: as plain Python, with checks of all indices, and with the
# oldest and the newest numba and NumPy that pyproject.toml promises, in environments in FOLDER. `make kernels` gives the
# rest: tests/kernels.sh FOLDER PYTHON, where PYTHON is that of an environment with the tests. ROOMS are other folders
# of tests, WAYS other ways.
set -u
cd "$(dirname "$0")/.."
folder=$1 python=$2
rooms=${ROOMS:-tests/kit tests/ngram tests/dependency tests/constituency tests/treelet tests/hhmm tests/svs tests/metrics tests/tuners}
failed=0
mkdir -p "$folder"
: > "$folder/summary"

# run NAME PYTHON [VARIABLE=VALUE...]: machine code is kept in a folder of its own.
run() {
	name=$1 interpreter=$2
	shift 2
	rm -rf "$folder/$name.cache"
	# shellcheck disable=SC2086
	env NUMBA_CACHE_DIR="$folder/$name.cache" OMP_NUM_THREADS=1 "$@" \
		"$interpreter" -m pytest -q -n "${PROCESSES:-2}" -m "not slow" $rooms > "$folder/$name.log" 2>&1
	code=$?
	[ $code = 0 ] || failed=1
	versions=$("$interpreter" -c 'import numba, numpy; print(f"numba {numba.__version__}, NumPy {numpy.__version__}")')
	echo "$name: $versions; exit code $code; $(tail -n 1 "$folder/$name.log")" | tee -a "$folder/summary"
}

# environment NAME PACKAGES...: an environment with the tests and with these versions.
environment() {
	name=$1
	shift
	[ -x "$folder/$name/bin/python" ] || "$python" -m venv "$folder/$name"
	"$folder/$name/bin/python" -m pip install --quiet --disable-pip-version-check -e '.[test]' "$@"
}

oldest() {
	sed -n "s/^ *\"$1>=\([0-9.]*\).*/$1==\1.*/p" pyproject.toml
}

for way in ${WAYS:-python bounds oldest newest}; do
	case $way in
	python) run python "$python" NUMBA_DISABLE_JIT=1 ;;
	bounds) run bounds "$python" NUMBA_BOUNDSCHECK=1 ;;
	oldest)
		environment oldest "$(oldest numba)" "$(oldest numpy)" || exit 1
		run oldest "$folder/oldest/bin/python"
		;;
	newest)
		environment newest --upgrade numba numpy || exit 1
		run newest "$folder/newest/bin/python"
		;;
	esac
done
exit $failed
