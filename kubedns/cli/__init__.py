"""The command line: a thin face on server/."""
