"""Agent runtimes that save themselves by a session; each is an optional extra, imported by its own name."""
