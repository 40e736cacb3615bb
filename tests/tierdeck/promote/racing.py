"""Several real processes that wait for the same signal and then do the same thing to the same store."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

# Tells what came of it as JSON: the report's `moved` and `refused`, or the error's text.
_RACER = """
import json, sys
from tierdeck.errors import TierdeckError
from tierdeck.model import Tier
from tierdeck.promote import *
from tierdeck.promote.rules import Rules
from tierdeck.store import open_store

path, me, code, ids = sys.argv[1], sys.argv[2], sys.argv[3], json.loads(sys.argv[4])
with open_store(path) as store:
    print("ready", flush=True)
    sys.stdin.readline()
    moved, refused = [], {}
    for batch in ([ids] if "ids" in code else [[node_id] for node_id in ids]):
        node_id = batch[0]
        try:
            found = eval(code)
        except TierdeckError as e:
            refused[node_id] = e.message
            continue
        moved += getattr(found, "moved", [node_id])
        refused |= {r.node_id: r.why for r in getattr(found, "refused", ())}
    print(json.dumps({"moved": moved, "refused": refused}), flush=True)
"""


def race(path: Path, ids: Sequence[str], *codes: str) -> list[dict[str, Any]]:
    """Run each expression in a process of its own, all at once, with `store`, `me` and `ids` or `node_id`.

    An expression that names `ids` is run once for all, else once for each `node_id`.
    """
    running = [
        subprocess.Popen(
            [sys.executable, "-c", _RACER, str(path), f"p{n}", code, json.dumps(list(ids))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for n, code in enumerate(codes)
    ]
    for process in running:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in running:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    outputs = [process.communicate(timeout=120)[0] for process in running]
    assert [process.returncode for process in running] == [0] * len(running)
    return [json.loads(output) for output in outputs]
