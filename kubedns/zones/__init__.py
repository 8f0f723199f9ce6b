"""Static zones: answers from files."""
