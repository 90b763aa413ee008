"""The dashboard without a screen: the moment, the scope, findings as shown, table models, plans."""
