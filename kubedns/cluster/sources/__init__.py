"""What fills the store."""
