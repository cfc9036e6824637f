"""``python -m shotad``: the command line."""

from shotad.cli.main import main

if __name__ == "__main__":
    main()
