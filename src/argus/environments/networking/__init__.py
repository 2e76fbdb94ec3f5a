"""Whether the parts of an environment reach each other: names and ports, seen from inside each service."""
