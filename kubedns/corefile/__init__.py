"""The configuration language: a Corefile's text becomes server blocks. Pure: the file reader is handed in."""
