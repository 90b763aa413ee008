"""The screens and commands of the rooms, a folder for each."""
