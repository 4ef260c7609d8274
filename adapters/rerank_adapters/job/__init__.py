"""What a config asks for: its tables, and the plugins that they name, resolved where they are read."""
