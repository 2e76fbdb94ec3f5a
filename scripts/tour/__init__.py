"""The tour that `make demo` gives: what it stands on, who plays in it, and its scenes."""
