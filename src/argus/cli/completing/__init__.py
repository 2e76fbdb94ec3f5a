"""Completion for shells: the commands as a tree, and the scripts that are made of it."""
