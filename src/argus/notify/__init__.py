"""Telling people: pure texts from events, delivered from the journal with a saved position."""
