"""What verifying found, in a line. Pure."""

from __future__ import annotations

from pathlib import Path

from tierdeck.checkpoint.folder import VerifyResult
from tierdeck_tui.view.format import size
from tierdeck_tui.view.line import Line, Piece, line
from tierdeck_tui.view.safe_text import safe


def verified_line(path: Path, result: VerifyResult) -> Line:
    """`ok       2.4 MB  /…/00000012-15-0a1b2c3d.rlmckpt  all of it decoded`; of any length."""
    words = {"ok": Piece("ok          ", "good"), "newer": Piece("NEWER       ", "warning")}
    state = words.get(result.state) or Piece(
        "DAMAGED     " if result.state == "damaged" else "NOT VERIFIED", "error"
    )
    done = "all of it was decoded" if result.is_deep else "the trailer fits"
    told = Piece(f"  {done}", "muted") if result.state == "ok" else Piece(f"  {why_words(path, result)}", "warning")
    earlier = Piece(", as found earlier" if result.is_from_cache else "", "muted")
    return line(
        state, Piece(f"  {size(result.bytes):>8}  ", "muted"), Piece(safe(str(path)), "strong"), told, earlier
    )


def why_words(path: Path, result: VerifyResult) -> str:
    """Why it is not good, without the file's name, which stands beside it."""
    return safe((result.why or "nothing more is known").removeprefix(f"read checkpoint {path.name}: "))
