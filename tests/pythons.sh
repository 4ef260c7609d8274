#!/bin/sh
# Run the demo and the fast tests on every Python of pyproject.toml that is installed, in environments of their own.
# They are looked for on PATH and in pyenv. The demo has to print the tour's table. `make pythons EXTRAS=test` installs
# fewer packages.
set -u
cd "$(dirname "$0")/.."
. tests/found_pythons.sh
mkdir -p work/pythons
: > work/pythons/times
demo_table > work/pythons/table
failed=0
for version in $(promised_versions); do
	python=$(found_python "$version")
	if [ -z "$python" ]; then
		echo "Python $version: not installed" >> work/pythons/times
		continue
	fi
	folder=work/pythons/$version
	start=$(date +%s)
	make "$folder/demo.installed" PYTHON="$python" VENV="$folder" &&
		RERANK_CACHE= make demo VENV="$folder" RUN="--force --work $folder/work" > "$folder/demo.txt" &&
		grep '[│┃]' "$folder/demo.txt" | tail -n "$(wc -l < work/pythons/table)" | diff work/pythons/table -
	demo=$? middle=$(date +%s)
	make fast VENV="$folder"
	tests=$? end=$(date +%s)
	[ $demo = 0 ] && [ $tests = 0 ] || failed=1
	echo "Python $version: demo $((middle - start)) s (exit code $demo), fast tests $((end - middle)) s (exit code $tests)" \
		>> work/pythons/times
done
cat work/pythons/times
exit $failed
