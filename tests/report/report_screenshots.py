"""Screenshots of the page of a run for the documentation: `python -m tests.report.report_screenshots PAGE FOLDER`."""

from __future__ import annotations

from pathlib import Path

import click

from tests.report.chromium import NAMES, browser, screenshot

ONLY_SEGMENTS = """
const heading = document.getElementById("all");
while (heading.previousElementSibling) heading.previousElementSibling.remove();
const why = document.querySelector(".why");
if (why) why.open = true;
"""


@click.command("report_screenshots")
@click.argument("page", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
def command(page: Path, folder: Path) -> None:
    """Write two screenshots of a PAGE that `rerank run` has made to FOLDER.

    `report.png` is its beginning on a desk, in light; `report-phone.png` its segments on a phone, in dark, the first
    with its details.
    """
    if browser() is None:
        raise click.ClickException(f"no Chromium here (looked for {', '.join(NAMES)})")
    text = page.read_text(encoding="utf-8")
    folder.mkdir(parents=True, exist_ok=True)
    screenshot(text, folder / "report.png", width=1160, height=1080)
    screenshot(text, folder / "report-phone.png", width=390, height=1080, dark=True, script=ONLY_SEGMENTS)


if __name__ == "__main__":
    command()
