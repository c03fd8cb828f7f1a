"""`python -m tagrank` is the command `tagrank`."""

import os
import sys

# -m puts the working folder first: what lies there, perhaps from elsewhere, is not to be imported
try:
    if sys.path[0] == os.getcwd():
        del sys.path[0]
except OSError:
    # the folder was removed
    pass

from tagrank.app.cli.main import main

main()
