"""Features that stand by themselves: each is a folder that is found, and that nobody imports."""
