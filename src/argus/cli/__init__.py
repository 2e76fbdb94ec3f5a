"""The command line: a client of the daemon. Light: `--help` and `status` import next to nothing."""
