"""Modal windows over the main screen. Each asks one question and can be cancelled."""
