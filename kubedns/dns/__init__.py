"""The words of the field and the wire. Pure: no I/O, no clock, no random source that is not handed in."""
