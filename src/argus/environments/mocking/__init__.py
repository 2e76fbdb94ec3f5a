"""Mocks that the daemon answers for itself: which route, what answer, who asked."""
