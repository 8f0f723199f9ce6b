"""The command line: a thin face on server/. One file a command; a command is imported when it is called."""
