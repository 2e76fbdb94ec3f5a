// What a tab and the history say: how many things are wrong, and where one is.
import type { State } from "./model";
import { VIEWS, entry, place } from "./route";
import { wrong } from "./verdict";

export function entitle(state: State | null): void {
  const trouble = state ? wrong(state).length : 0;
  const { view, name } = place();
  const where = name || VIEWS.find(([id]) => id === entry(view))?.[1] || "No such page";
  document.title = `${trouble ? `(${trouble}) ` : ""}${where} · Argus`;
}
