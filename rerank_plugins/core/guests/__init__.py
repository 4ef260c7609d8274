"""Makes the objects of registered plugins, and checks what plugins of others register."""
