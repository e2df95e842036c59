"""Makes golden outputs anew, all or those named: `PYTHONPATH=src:tests python -m net.write_golden [NAME …]`.

The difference goes into a commit of its own that explains it.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path


def main(names: list[str]) -> None:
    """Write what the code of now answers."""
    from embermem.testing.answers import answer
    from embermem.testing.model_server import ModelServer
    from net.golden import GOLDEN, OUTPUTS, written

    for name in [name for name in os.environ if name.startswith("EMBERMEM_")]:
        del os.environ[name]
    GOLDEN.mkdir(exist_ok=True)
    with ModelServer(answer) as server:
        for name in names or OUTPUTS:
            with tempfile.TemporaryDirectory() as folder:
                found = written(OUTPUTS[name](Path(folder), server.url))
            (GOLDEN / f"{name}.json").write_text(found, encoding="utf-8")
            print(f"{name}: {len(found.encode()):,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
