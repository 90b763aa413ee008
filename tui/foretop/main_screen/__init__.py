"""The one screen that holds the pages: header, footer, navigation, and the actions that work everywhere."""
