"""``python -m arcmeans.demo``: a demonstration that needs no download and none of the extras."""

import sys

from ._cli.demonstration import main

if __name__ == "__main__":
    sys.exit(main())
