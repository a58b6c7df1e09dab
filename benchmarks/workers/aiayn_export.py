"""``aiayn export`` with CTranslate2 taken from the peers' environment: the project's has none.

Takes the folder of the peers' packages and then the command's arguments.
"""

import sys

from aiayn.cli.main import main

sys.path.append(sys.argv.pop(1))  # after the project's own packages, which go first
sys.argv.insert(1, "export")
main()
