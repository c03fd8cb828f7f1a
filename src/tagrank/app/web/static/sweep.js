// Tap a tile, or press and sweep over several. A finger that moves up or down scrolls instead.

/** `tap(i, event)`; `start(i)` says what a sweep that begins there does, `over(i, what)` does it. */
export function onSweep(wall, { tap, start, over }) {
  let press = null;

  const indexAt = (x, y) => {
    const tile = document.elementFromPoint(x, y)?.closest("[role=option]");
    return tile && tile.parentNode === wall ? [...wall.children].indexOf(tile) : -1;
  };

  function sweepTo(x, y) {
    // a fast pointer leaves out tiles between two events
    const steps = Math.max(1, Math.ceil(Math.hypot(x - press.x, y - press.y) / 20));
    for (let k = 1; k <= steps; k += 1) {
      const i = indexAt(press.x + ((x - press.x) * k) / steps, press.y + ((y - press.y) * k) / steps);
      if (i < 0 || press.seen.has(i)) continue;
      if (press.what === undefined) {
        press.what = start(press.first);
        over(press.first, press.what);
      }
      press.seen.add(i);
      over(i, press.what);
    }
    [press.x, press.y] = [x, y];
  }

  wall.addEventListener("pointerdown", (event) => {
    const i = indexAt(event.clientX, event.clientY);
    if (event.button !== 0 || i < 0) return;
    if (event.shiftKey) event.preventDefault();
    press = { id: event.pointerId, first: i, seen: new Set([i]), what: undefined, x: event.clientX, y: event.clientY };
  });
  addEventListener("pointermove", (event) => press?.id === event.pointerId && sweepTo(event.clientX, event.clientY));
  addEventListener("pointerup", (event) => {
    if (press?.id === event.pointerId && press.what === undefined) tap(press.first, event);
    press = null;
  });
  addEventListener("pointercancel", () => { press = null; });
  // a screen reader presses without a pointer
  wall.addEventListener("click", (event) => {
    const tile = event.target.closest("[role=option]");
    const hasPointer = event.detail > 0 || ["mouse", "touch"].includes(event.pointerType);
    if (tile && !hasPointer) tap([...wall.children].indexOf(tile), event);
  });
}
