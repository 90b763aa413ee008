"""Helpers for those who keep foretop; nothing in the product imports them."""
