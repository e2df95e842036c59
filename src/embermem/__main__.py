"""`python -m embermem`: the command line, as `embermem` is."""

from embermem.cli.main import main

if __name__ == "__main__":
    main()
