// What a tab and the history say: how many need you, as the overview's entry does; else whether something is wrong; and
// where one is.
import type { State } from "./model";
import { VIEWS, entry, place } from "./route";
import { needs } from "./verdict";

export function entitle(state: State | null): void {
  const waiting = state ? needs(state).length : 0;
  const sign = waiting ? `(${waiting}) ` : state && !state.well ? "▲ " : "";
  const { view, name } = place();
  const where = name || VIEWS.find(([id]) => id === entry(view))?.[1] || "No such page";
  document.title = `${sign}${where} · Argus`;
}
