"""The parts of plugins: interfaces, values, options, the registry and its loader. The core knows no family."""
