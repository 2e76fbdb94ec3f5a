"""The static helper that Argus runs in containers: its programs, and the image that is made of them."""
