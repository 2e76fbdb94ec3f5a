"""The guardian: containers of a live run that fail are started again, and what cannot be helped is told."""
