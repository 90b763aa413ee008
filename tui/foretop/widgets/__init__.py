"""The widgets; each is given what it shows and asks for nothing."""
