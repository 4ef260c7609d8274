"""Headless Chromium for pages of reports: screenshots in light and dark, at any width, and the page after its scripts."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from html import escape, unescape
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome")
SECONDS = 120


def browser() -> str | None:
    """The path of the browser; None where there is none."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


def screenshot(page: str, image: Path, *, width: int, height: int, dark: bool = False, script: str = "") -> None:
    """Write a PNG of the page, in CSS pixels; `script` runs before. Raises subprocess.CalledProcessError."""
    size = [f"--screenshot={image}", f"--window-size={width},{height}", "--hide-scrollbars"]
    _run(_with_script(page, script), *size, f"--blink-settings=preferredColorScheme={0 if dark else 1}")


def text_after(page: str, script: str, *, width: int) -> str:
    """The page as HTML after its own scripts and `script` have run, in a frame: no window is as narrow as a phone."""
    frame = f'<iframe srcdoc="{escape(_with_script(page, script))}" style="width:{width}px;height:900px;border:0">'
    copy = "document.querySelector('pre').textContent = frames[0].document.documentElement.outerHTML"
    shown = _run(f"{frame}</iframe><pre></pre><script>setInterval(() => {{ {copy} }}, 100)</script>", "--dump-dom")
    return unescape(shown.rpartition("<pre>")[2].partition("</pre>")[0])


def _with_script(page: str, script: str) -> str:
    return page.replace("</body>", f"<script>{script}</script></body>")


def _run(page: str, *options: str) -> str:
    """What the browser prints."""
    path = browser()
    if path is None:
        raise FileNotFoundError(2, "no such browser", NAMES[0])
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # the browser may still write to it
        file = Path(folder) / "page.html"
        file.write_text(page, encoding="utf-8")
        command = [path, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=10000"]
        command += [f"--user-data-dir={folder}/profile", *options, file.as_uri()]
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=SECONDS)
    return done.stdout
