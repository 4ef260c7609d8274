"""What plugins are made of: interfaces, values, options, the registry and its loader. It knows no family."""
