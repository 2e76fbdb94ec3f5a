"""The file `e2e.yaml`: what it may say, what its variables mean, and everything that is wrong with it, at once."""
