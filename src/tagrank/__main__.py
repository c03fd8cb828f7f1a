"""`python -m tagrank` is the command `tagrank`."""

from tagrank.app.cli import main

main()
