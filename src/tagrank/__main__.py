"""`python -m tagrank` is the command `tagrank`."""

from tagrank.app.cli.main import main

main()
