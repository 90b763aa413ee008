"""`python -m tui`, where no `foretop` is on the path."""

from tui.cli import main

main()
