"""Services: noticing that one is down, and repairing it within limits."""
