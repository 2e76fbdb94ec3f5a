"""Argus as a service of systemd or launchd: the file that says so, whose it is, and the manager that reads it."""
