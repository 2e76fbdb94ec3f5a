// A browser opens six connections to one address, for all of its tabs together. A stream takes one for good: with six tabs
// nothing would be left to ask with. So only some tabs of a browser follow the stream; the others ask now and then.
const SLOTS = 3;

/** Gives a place back. Null: all are taken. Where a browser cannot say who has one, everybody has. */
export async function takeSlot(): Promise<(() => void) | null> {
  if (!navigator.locks) return () => {};
  for (let n = 0; n < SLOTS; n++) {
    const free = await new Promise<(() => void) | null>((resolve) => {
      void navigator.locks.request(`argus-stream-${n}`, { ifAvailable: true }, (lock) => {
        if (!lock) return resolve(null);
        return new Promise<void>((free) => resolve(free));
      });
    });
    if (free) return free;
  }
  return null;
}
