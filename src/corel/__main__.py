"""``python -m corel`` is the command line."""

from corel.cli import main

if __name__ == "__main__":
    main()
