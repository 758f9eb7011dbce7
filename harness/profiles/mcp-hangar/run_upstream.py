"""Becomes the command that follows on its own command line.

Hangar starts a stdio upstream only through a known interpreter; this is the shortest way from there
to the canary.
"""

import os
import sys

os.execv(sys.argv[1], sys.argv[1:])
