// What the page knows, and the one function that changes it. Nothing in here asks or draws.
import type { Service, State, Told } from "./model";

export const TIMELINE = 500;
export const READINGS = 120;
const FOLLOWED = 60;

export type Link =
  | { kind: "starting" }
  | { kind: "live"; since: number }
  /** `since` by the daemon's clock, `again` by the browser's. */
  | { kind: "lost"; since: number; why: string; again: number }
  | { kind: "out" };

export interface Reading {
  at: number;
  state: string;
  latencyMs: number | null;
}

export interface World {
  link: Link;
  state: State | null;
  /** The newest first, in bounds. */
  timeline: Told[];
  /** Readings since the page was opened, of the services that were looked at. */
  readings: ReadonlyMap<string, Reading[]>;
  /** Told of while the page was cut off, and gone since. */
  gaps: number;
}

export type Change =
  | { kind: "link"; link: Link }
  | { kind: "state"; state: State }
  | { kind: "told"; told: Told[] }
  | { kind: "follow"; service: string }
  | { kind: "afresh"; gap: boolean };

export const EMPTY: World = { link: { kind: "starting" }, state: null, timeline: [], readings: new Map(), gaps: 0 };

export function number(id: string | null): number {
  return id ? Number(id.slice(id.lastIndexOf("-") + 1)) : 0;
}

export function epoch(id: string): string {
  return id.slice(0, id.lastIndexOf("-"));
}

export function change(world: World, how: Change): World {
  switch (how.kind) {
    case "link":
      return { ...world, link: how.link };
    case "state":
      return { ...world, state: kept(world.state, how.state) };
    case "told":
      return heard(world, how.told);
    case "follow":
      return world.readings.has(how.service) ? world : { ...world, readings: followed(world.readings, how.service) };
    case "afresh":
      return { ...world, timeline: [], gaps: world.gaps + (how.gap ? 1 : 0) };
  }
}

/** Objects that say the same stay the same, so that what did not change is not drawn again. */
function kept(before: State | null, now: State): State {
  if (!before) return now;
  const known = new Map(before.services.map((one) => [one.name, one]));
  const services = now.services.map((one) => {
    const was = known.get(one.name);
    return was && JSON.stringify(was) === JSON.stringify(one) ? was : one;
  });
  return { ...now, services };
}

function followed(readings: ReadonlyMap<string, Reading[]>, service: string): Map<string, Reading[]> {
  const more = new Map(readings);
  while (more.size >= FOLLOWED) more.delete(more.keys().next().value as string);
  return more.set(service, []);
}

function heard(world: World, told: Told[]): World {
  const known = number(world.state?.cursor ?? null);
  const journal = told.filter((one) => one.id !== null);
  const timeline = journal.length ? [...journal.reverse(), ...world.timeline].slice(0, TIMELINE) : world.timeline;
  let { state, readings } = world;
  const patches = new Map<string, Partial<Service>>();
  for (const one of told) {
    if (one.type === "checked") {
      readings = read(readings, one);
      patch(patches, one, { latencyMs: one.data.latencyMs as number | null, lastCheck: new Date(one.at).toISOString() });
    } else if (number(one.id) > known) {
      const said = service(one);
      if (said) patch(patches, one, said);
      if (state && one.type === "autonomy_changed") state = { ...state, autonomy: String(one.data.to ?? state.autonomy) };
    }
  }
  if (state && patches.size) {
    const services = state.services.map((one) => (patches.has(one.name) ? { ...one, ...patches.get(one.name) } : one));
    state = { ...state, services };
  }
  return { ...world, state, timeline, readings };
}

/** The readings among these that show a service otherwise than the state does, by its name. */
export function unlike(state: State | null, told: Told[]): Map<string, string> {
  const seen = new Map<string, string>();
  for (const one of told) if (one.type === "checked") seen.set(String(one.data.service), String(one.data.state));
  if (state && seen.size)
    for (const one of state.services) if (seen.get(one.name) === (one.failures ? "down" : one.state)) seen.delete(one.name);
  return seen;
}

function patch(patches: Map<string, Partial<Service>>, one: Told, said: Partial<Service>) {
  const name = String(one.data.service ?? "");
  patches.set(name, { ...patches.get(name), ...said });
}

function read(readings: ReadonlyMap<string, Reading[]>, one: Told): ReadonlyMap<string, Reading[]> {
  const name = String(one.data.service);
  const before = readings.get(name);
  if (!before) return readings;
  const now = { at: one.at, state: String(one.data.state), latencyMs: one.data.latencyMs as number | null };
  return new Map(readings).set(name, [...before, now].slice(-READINGS));
}

/** What an event says of its service at once; the state that is read soon after says the rest. */
function service(one: Told): Partial<Service> | null {
  const since = new Date(one.at).toISOString();
  switch (one.type) {
    case "service_down":
      return { state: "down", since, detail: String(one.data.detail ?? ""), incident: String(one.data.incident ?? "") };
    case "service_recovered":
      return { state: "up", since, failures: 0, incident: null, gate: null, repairing: false };
    case "state_changed":
      return { state: String(one.data.to), since, ...(one.data.to === "up" ? { failures: 0 } : {}) };
    case "restart_started":
      return { repairing: true };
    case "restart_finished":
      return { repairing: false };
    case "service_paused":
      return { pausedUntil: String(one.data.until ?? "") || null };
    case "service_resumed":
      return { pausedUntil: null };
    default:
      return null;
  }
}
