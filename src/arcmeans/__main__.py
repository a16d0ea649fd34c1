"""``python -m arcmeans`` is the command ``arcmeans``."""

import sys

from .cli import main

sys.exit(main())
