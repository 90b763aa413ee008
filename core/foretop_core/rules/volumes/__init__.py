"""The volumes of a namespace: what decides whether a backup takes them, and what proves that it did."""
