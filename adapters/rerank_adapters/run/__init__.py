"""A job as files in a folder: what is wrong with it before it runs, its stages, and why a hypothesis won."""
