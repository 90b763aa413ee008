"""The coming hours: what runs when, and what starts together."""
