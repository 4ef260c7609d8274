"""Makes the worlds of students, and the lists, again: `python example_nbest/referential/make.py [FOLDER]`.

The same bytes each time, in a few seconds; only Python and numpy are needed.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent

if __name__ == "__main__":
    from students.make import main

    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
