"""What runs suites that are not YAML: test programs of others, read by their JUnit reports, and plain commands."""
