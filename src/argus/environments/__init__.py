"""Docker test environments: what an `e2e.yaml` describes, brought up and kept up."""
