"""`make bench`: Argus beside floors and peers, measured in the same run. See docs/benchmarks.md."""
