"""One graph over all parts: who depends on what, who is told when it breaks, and who waits for it."""
