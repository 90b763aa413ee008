"""`python -m foretop`, where no `foretop` is on the path."""

from foretop.cli import main

main()
