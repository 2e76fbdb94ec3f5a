"""The agents' part: which are alive, and keeping their work going."""
