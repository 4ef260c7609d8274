"""The job of a config: its tables, and the plugins that they name, resolved where they are read."""
