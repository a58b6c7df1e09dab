"""``python -m aiayn``: the same as the ``aiayn`` command."""

from aiayn.cli.main import main

if __name__ == "__main__":
    main()
