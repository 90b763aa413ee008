"""Text for a terminal: cleaned and cut, times and zones, progress bars."""
