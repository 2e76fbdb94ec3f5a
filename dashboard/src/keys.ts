// The keyboard. Nothing is heard while somebody writes or a dialog asks something.
import { VIEWS, entry, place, to } from "./route";

export const KEYS: [keys: string, what: string][] = [
  ["1 – 8", "the views, in their order"],
  ["g, then a letter", VIEWS.map(([, title, letter]) => `${letter} ${title.toLowerCase()}`).join(", ")],
  ["/", "search, in a view that has a search field"],
  ["j, k", "the next row, the one before"],
  ["Enter", "open the row"],
  ["p", "timeline: pause, go on"],
  ["Escape", "close; leave the search; back to the list"],
  ["?", "this help"],
];

const writes = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.matches("input:not([type=radio]), textarea, select") || target.isContentEditable);

function step(by: number) {
  const rows = [...document.querySelectorAll<HTMLElement>("[data-row]")];
  const now = rows.indexOf(document.activeElement as HTMLElement);
  rows[now < 0 ? (by > 0 ? 0 : rows.length - 1) : now + by]?.focus();
}

export function listen(help: () => void): () => void {
  let waiting = 0;
  const pressed = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (writes(event.target)) {
      if (event.key === "Escape") (event.target as HTMLElement).blur();
      return;
    }
    const go = Date.now() < waiting;
    waiting = 0;
    const view = go ? VIEWS.find(([, , letter]) => letter === event.key) : VIEWS[Number(event.key) - 1];
    if (view) location.hash = to(view[0]);
    else if (event.key === "g") waiting = Date.now() + 1500;
    else if (event.key === "?") help();
    else if (event.key === "/") document.querySelector<HTMLElement>("input[type=search]")?.focus();
    else if (event.key === "j" || event.key === "k") step(event.key === "j" ? 1 : -1);
    else if (event.key === "p") document.querySelector<HTMLElement>("[data-pause]")?.click();
    else if (event.key === "Escape" && place().name) location.hash = to(entry(place().view));
    else return;
    event.preventDefault();
  };
  addEventListener("keydown", pressed);
  return () => removeEventListener("keydown", pressed);
}
