"""What the screen is drawn with: each widget is handed what it shows and asks for nothing."""
