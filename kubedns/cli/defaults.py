"""What several commands take for granted."""

OWN_PORT = 1053
"""Where manifests are served unless told otherwise: no privileges are needed, and no other resolver is there."""
