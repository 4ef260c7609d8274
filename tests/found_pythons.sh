# Sourced by pythons.sh and dist.sh in the root of the checkout: the Pythons of pyproject.toml, and the demo's table.

# The versions that pyproject.toml promises, a line each.
promised_versions() {
	sed -n 's/.*"Programming Language :: Python :: \(3\.[0-9]*\)".*/\1/p' pyproject.toml
}

# The installed interpreter of a version, on PATH or in pyenv; nothing where there is none.
found_python() {
	python=
	for found in "python$1" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1".*/bin/python; do
		"$found" -c '' 2> /dev/null && python=$found
	done
	echo "$python"
}

# The rows of the table that the demo has to print.
demo_table() {
	sed -n '/<!-- begin demo -->/,/<!-- end -->/p' docs/tour.md | grep '[│┃]'
}
