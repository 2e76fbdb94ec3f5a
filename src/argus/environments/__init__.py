"""Environments: what one e2e.yaml describes, brought up on a Docker engine, watched, and taken away again."""
