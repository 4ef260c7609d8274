#!/bin/sh
# Build the source distribution and the wheel in dist/, check them, and run the demo's job from the wheel, outside the
# checkout, on every Python of pyproject.toml that is installed: on PATH or in pyenv. BUILDER is a Python with hatchling.
set -eu
cd "$(dirname "$0")/.."
. tests/found_pythons.sh
builder=$(pwd)/${BUILDER:-.venv/bin/python}
most=55000000 # bytes of the wheel
rm -rf dist
"$builder" -m hatchling build -d dist
wheel=$(pwd)/$(ls dist/*.whl)
size=$(wc -c < "$wheel")
[ "$size" -le $most ] || { echo "dist: the wheel has $size bytes; wanted at most $most" >&2; exit 1; }
if "$builder" -c 'import twine' 2> /dev/null; then
	"$builder" -m twine check --strict dist/*
else
	echo "dist: twine is not installed, so the description was not checked" >&2
fi
tried=0
for version in $(promised_versions); do
	python=$(found_python "$version")
	if [ -z "$python" ]; then
		echo "dist: Python $version: not installed" >&2
		continue
	fi
	place=$(mktemp -d)
	"$python" -m venv "$place/env"
	"$place/env/bin/python" -m pip install --quiet --disable-pip-version-check -c constraints.txt "$wheel"
	(
		cd "$place"
		export RERANK_CACHE=
		env/bin/rerank demo example
		env/bin/rerank run example/mt.toml --work work > table
	)
	demo_table > "$place/wanted"
	grep '[│┃]' "$place/table" | tail -n "$(wc -l < "$place/wanted")" | diff "$place/wanted" - ||
		{ echo "dist: Python $version: another table than in docs/tour.md ($place)" >&2; exit 1; }
	echo "dist: Python $version: the wheel runs the demo's job" >&2
	rm -rf "$place"
	tried=$((tried + 1))
done
[ $tried -gt 0 ] || { echo "dist: no Python to try the wheel with" >&2; exit 1; }
ls -l dist >&2
