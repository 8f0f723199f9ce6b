"""What rooms report to."""
