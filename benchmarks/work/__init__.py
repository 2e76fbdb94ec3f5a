"""What is measured, a file each. `benchmarks.everything` lists them."""
