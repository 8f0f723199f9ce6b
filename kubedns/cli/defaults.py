"""What several commands take for granted."""

OWN_PORT = 1053
"""Where manifests are served unless told otherwise: no privileges are needed, and no other resolver is there."""

ADMIN_PORT = 9154
"""Where the admin endpoint is unless told otherwise: beside the metrics' 9153."""
