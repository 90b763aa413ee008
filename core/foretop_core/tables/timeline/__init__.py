"""The coming hours: what runs when, what starts together, and the primer beside it."""
