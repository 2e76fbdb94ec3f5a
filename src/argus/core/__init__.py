"""The vocabulary of Argus. Pure: imports nothing of ours and touches nothing outside."""
