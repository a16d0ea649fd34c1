"""``python -m arcmeans`` is the command ``arcmeans``."""

import sys

from ._cli import main

sys.exit(main())
