"""`argus doctor`: the installation itself, examined part by part. Everything is looked at, nothing is changed."""
