"""What the operator sees and types."""
