"""The terminal below the screen: probing it, drawing only the cells that changed, the order of keys, the clipboard."""
