"""Makes the pictures in this folder from the real program on the demo store: `python -m screenshots.make`.

Each picture is the console run in Textual's Pilot, the demo store indexed by the local model, drawn as SVG and,
where Chromium is there, turned into a small PNG (an SVG's fonts come from the reader's machine, so PNG is what the
README shows). `--all` keeps every combination for looking at, `--svg` keeps the SVGs too.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from PIL import Image

from tierdeck.config import CheckpointSettings, ConsoleSettings, EmbeddingSettings, Settings, Theme
from tierdeck.demo import build_demo
from tierdeck.embed import make_embedder
from tierdeck.embed.indexer import run_indexer
from tierdeck.store import open_store
from tierdeck_tui.app import TierdeckApp
from tierdeck_tui.reading.console import Console

FOLDER = Path(__file__).parent
QUERY = "why were customers charged twice"
SIZES = ((120, 32), (80, 24), (60, 16))
THEMES: tuple[Theme, ...] = ("dark", "light", "ansi")
# Screen, keys, and the sizes and looks that are kept of it.
OTHERS: tuple[tuple[str, tuple[str, ...], tuple[tuple[int, int], ...], tuple[Theme, ...]], ...] = (
    ("promotions", ("2", "j"), SIZES[:2], ("dark", "light")),
    ("promotions-log", ("2", "right", "right"), SIZES[:1], ("dark",)),
    ("promotions-override", ("2", "p"), SIZES[1:2], ("dark",)),
    ("checkpoints", ("3", "right"), SIZES[:2], ("dark",)),
    ("overview", ("4",), SIZES[:1], ("dark",)),
)
# Chromium writes 430 kB for a full screen, nearly all of it edges of letters in thousands of shades; with 64
# colours it is 130 kB and looks the same.
COLOURS = 64
WAIT_S = 30.0
# Workers that go on while the screen stands still: one watches the store, one waits for a dialog's answer.
WAITING = frozenset({"watch", "change"})
POLL_S = 0.05


@dataclass(frozen=True, slots=True)
class Picture:
    """One screen at one size in one look; `keys` are pressed after its mode's."""

    screen: str
    width: int
    height: int
    theme: Theme
    keys: tuple[str, ...]

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return f"{self.screen}-{self.width}x{self.height}-{self.theme}"


def pictures(*, everything: bool) -> list[Picture]:
    """The Search screen at every size and look; the others once or twice, or at all when asked for."""
    search = ("slash", *QUERY, "enter")
    found = [Picture("search", *size, theme, search) for size, theme in product(SIZES, THEMES)]
    for name, keys, sizes, themes in OTHERS:
        wanted = product(SIZES, THEMES) if everything else product(sizes, themes)
        found += [Picture(name, *size, theme, keys) for size, theme in wanted]
    return found


async def draw(picture: Picture, store_path: Path, checkpoints: Path) -> str:
    """The picture as SVG."""
    settings = Settings(
        embedding=EmbeddingSettings(provider="local"),
        checkpoints=CheckpointSettings(folder=str(checkpoints)),
        console=ConsoleSettings(theme=picture.theme),
    )
    with open_store(store_path) as store:
        console = Console(store, settings)
        app = TierdeckApp(console)
        async with app.run_test(size=(picture.width, picture.height)) as pilot:
            await _until_still(app)
            await pilot.press(*(("space" if key == " " else key) for key in picture.keys))
            await _until_still(app)
            await pilot.pause(0.3)
            svg = app.export_screenshot(title="tierdeck")
        console.close()
    return svg


async def _until_still(app: TierdeckApp) -> None:
    """Wait until the model is loaded and nothing is at work but the watcher of the store and a dialog."""
    for _ in range(int(WAIT_S / POLL_S)):
        await asyncio.sleep(POLL_S)
        is_working = any(not worker.is_finished for worker in app.workers if worker.group not in WAITING)
        if app.deck.meaning_state().is_ready and not is_working:
            return
    raise TimeoutError(f"the console was still at work after {WAIT_S:g} s")


def to_png(svg: Path, png: Path, chromium: str) -> None:
    """Turn an SVG into a PNG of its own size."""
    found = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg.read_text("utf-8"))
    if found is None:
        raise ValueError(f"turn {svg} into a picture: it has no viewBox")
    width, height = (int(float(number)) + 1 for number in found.groups())
    subprocess.run(
        [
            chromium,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            f"--screenshot={png}",
            f"--window-size={width},{height}",
            svg.as_uri(),
        ],
        check=True,
        capture_output=True,
    )


def shrink(png: Path) -> None:
    """Replace the picture by one of at most `COLOURS` colours."""
    with Image.open(png) as picture:
        packed = picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    packed.save(png, optimize=True)


def make(folder: Path, *, everything: bool, keep_svg: bool) -> list[Path]:
    """Make the pictures in `folder`, which is made too where there is none; gives the files made."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    made: list[Path] = []
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="tierdeck-") as home:
        os.environ.update(HOME=home, XDG_CACHE_HOME=home, XDG_STATE_HOME=home, XDG_CONFIG_HOME=home)
        os.environ.pop("NO_COLOR", None)
        store_path = Path(home) / "demo.db"
        checkpoints = build_demo(store_path).checkpoints.root
        settings = EmbeddingSettings(provider="local")
        with open_store(store_path) as store:
            run_indexer(store, make_embedder(settings, store), settings)
        for picture in pictures(everything=everything):
            svg = folder / f"{picture.name}.svg"
            svg.write_text(asyncio.run(draw(picture, store_path, checkpoints)), "utf-8")
            if chromium is None:
                made.append(svg)
                continue
            to_png(svg, svg.with_suffix(".png"), chromium)
            shrink(svg.with_suffix(".png"))
            made.append(svg.with_suffix(".png"))
            if not keep_svg:
                svg.unlink()
    return made


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="every screen at every size and look")
    parser.add_argument("--svg", action="store_true", help="keep the SVGs beside the PNGs")
    parser.add_argument("--into", type=Path, default=FOLDER, help="another folder")
    options = parser.parse_args()
    for path in make(options.into, everything=options.all, keep_svg=options.svg):
        print(f"{path.name}  {path.stat().st_size / 1000:.0f} kB")
