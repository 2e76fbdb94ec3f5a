"""`make screenshots`: every view and the terminal, of a real Argus with real things, into docs/images."""

from __future__ import annotations

import base64
import shutil
import struct
import sys
import tempfile
import time
import zlib
from pathlib import Path

from playwright.sync_api import Browser, Page

from tests.acceptance.page_world import House, browser_in, opened
from tests.docker_engine import Engine
from tests.terminal_picture import pictured, shown

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
SERVICES = ("api", "auth", "billing", "catalogue", "images", "mail", "payments", "queue", "search", "web")
LOOKS = {
    "light": {"color_scheme": "light", "viewport": {"width": 1180, "height": 820}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1180, "height": 820}},
    "phone": {"color_scheme": "light", "viewport": {"width": 360, "height": 720}, "is_mobile": True, "has_touch": True},
}
_GROWTH = 66
"""Seconds for which contexts grow, before a handoff can be foretold."""


def furnish(house: House) -> None:
    house.furnish(*SERVICES, quick=False, needed="payments", by="billing")
    house.remember(*SERVICES)
    house.up()
    house.set_up()
    house.employ()
    house.converse()
    house.trip()
    for name in SERVICES:
        house.wait_until(name, "up")
    house.servers["search"].kill()
    house.wait_for("service_recovered", "search")
    house.servers["payments"].kill()
    house.servers["billing"].kill()
    for name in ("payments", "billing"):
        house.wait_until(name, "down")
    house.post("/api/services/mail/pause", {"for": "1h"})
    until = time.monotonic() + _GROWTH
    step = 0
    while time.monotonic() < until:
        step += 1
        house.tell_context(step)
        house.post("/api/heartbeat", {"agent_id": "reviewer", "status": "working"})
        time.sleep(3)


def views(house: House) -> dict[str, str]:
    incidents = house.get("/api/incidents")["incidents"]
    incident = next(one["id"] for one in incidents if one["subject"] == "search")
    return {
        "overview": "/",
        "services": "/services",
        "service": "/services/search",
        "agents": "/agents",
        "session": "/sessions/checkout",
        "environments": "/environments",
        "servers": "/servers",
        "incidents": "/incidents",
        "incident": f"/incidents/{incident}",
        "timeline": "/timeline",
        "settings": "/settings",
    }


# A palette makes a picture a third as large. Chromium has the pixels at hand, and counts them quicker than Python does.
_INDEXED = """
async (base64) => {
  const bytes = Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  const drawing = canvas.getContext("2d");
  drawing.drawImage(bitmap, 0, 0);
  const pixels = new Uint32Array(drawing.getImageData(0, 0, bitmap.width, bitmap.height).data.buffer);
  const counts = new Map();
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  const parts = (pixel) => [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255];
  const palette = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 256).map(([pixel]) => parts(pixel));
  const nearest = new Map();
  for (const pixel of counts.keys()) {
    const [r, g, b] = parts(pixel);
    let best = 0, least = Infinity;
    palette.forEach(([x, y, z], place) => {
      const far = (r - x) ** 2 + (g - y) ** 2 + (b - z) ** 2;
      if (far < least) [best, least] = [place, far];
    });
    nearest.set(pixel, best);
  }
  let text = "";
  for (const pixel of pixels) text += String.fromCharCode(nearest.get(pixel));
  return { width: bitmap.width, height: bitmap.height, palette, pixels: btoa(text) };
}
"""


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _small(page: Page, picture: bytes) -> bytes:
    """The same picture with at most 256 colours."""
    said = page.evaluate(_INDEXED, base64.b64encode(picture).decode())
    width, height, pixels = said["width"], said["height"], base64.b64decode(said["pixels"])
    lines = b"".join(b"\0" + pixels[row * width : (row + 1) * width] for row in range(height))
    return b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            _chunk(b"PLTE", bytes(part for colour in said["palette"] for part in colour)),
            _chunk(b"IDAT", zlib.compress(lines, 9)),
            _chunk(b"IEND", b""),
        ]
    )


def _keep(painter: Page, name: str, picture: bytes) -> None:
    file = IMAGES / f"{name}.png"
    file.write_bytes(_small(painter, picture))
    print(f"{file.name} {file.stat().st_size // 1024} kB")


def take(browser: Browser, house: House, only: list[str]) -> None:
    painter = browser.new_page()
    if not only or "terminal" in only:
        screen = shown(house, "status", "--watch", until="q quits")
        _keep(painter, "terminal", pictured(painter, "argus status --watch", screen))
    wanted = {name: place for name, place in views(house).items() if not only or name in only}
    for look, context in LOOKS.items() if wanted else ():
        page = opened(browser, house, **context)
        for name, place in wanted.items():
            page.goto(f"{house.url}/#{place}")
            page.locator("main h1").first.wait_for()
            page.wait_for_load_state("load")
            page.wait_for_timeout(900)
            _keep(painter, f"page-{name}-{look}", page.screenshot(animations="disabled"))
        page.context.close()


def main() -> None:
    engine = Engine()
    folder = Path(tempfile.mkdtemp(prefix="kim-"))
    house = House(folder / "shop", engine)
    try:
        furnish(house)
        with browser_in(house) as browser:
            take(browser, house, sys.argv[1:])
    finally:
        house.end()
        engine.end()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
