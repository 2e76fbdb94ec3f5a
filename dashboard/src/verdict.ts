// What a state comes to: is anything wrong, and who is waited for. Pure.
import type { Agent, Incident, Run, Service, Session, State, StopRequest } from "./model";
import { type Tone, clock, many, toneOf } from "./words";
import type { Link } from "./world";

/** Argus says what is not well and who needs a person, once for everybody who shows it; here it is only looked up. */
export const unwell = (state: State): ((name: string) => boolean) => among(state.notWell);
const needing = (state: State): ((name: string) => boolean) => among(state.needsYou);

function among(names: string[]): (name: string) => boolean {
  const named = new Set(names);
  return (name) => named.has(name);
}

/** What a service is called: one that fails and is not confirmed down is not called up any more. */
export const standing = (one: Service): string => (one.failures && (one.state === "up" || one.state === "pending") ? FAILING : one.state);

export const FAILING = "failing";

/** One that goes up and down is not shown as one that is up. */
export function toneOfService(one: Service): Tone {
  const tone = toneOf(standing(one));
  return one.flapping && tone === "ok" ? "warn" : tone;
}

export type Wrong =
  | { kind: "service"; one: Service }
  | { kind: "agent"; one: Agent }
  | { kind: "other"; key: string; title: string; detail: string; link: string; tone: Tone; root?: string };

const WORST: Record<string, number> = { down: 0, unknown: 1, failing: 2, degraded: 3 };

/** What stands still because of something else: one root, one alert, and the rest under it. */
export interface Consequence {
  key: string;
  name: string;
  words: string;
  link: string;
}

/** The infrastructure event as a root. There is one at a time. */
const EVENT = "event";

/** By the root, as `waits_for` calls it: "service db", "environment shop"; or the event. */
export type Consequences = Map<string, Consequence[]>;

/** Gates of a dead agent that open with its root, or by themselves. */
const RETURNS = ["", "dependency down", "backoff", "record"];

export function consequences(state: State): Consequences {
  const incidents = new Map(state.services.filter((one) => one.incident).map((one) => [one.incident, `service ${one.name}`]));
  if (state.infrastructureEvent) incidents.set(state.infrastructureEvent, EVENT);
  const found = new Map<string, Map<string, Consequence>>();
  const add = (root: string, one: Consequence) => {
    const known = found.get(root) ?? new Map<string, Consequence>();
    found.set(root, known.set(one.key, one));
  };
  const isUnwell = unwell(state);
  /** What makes each service fail, by its name as a root; nothing when that is over. */
  const why = new Map(state.services.filter((one) => isUnwell(`service ${one.name}`)).map((one) => [`service ${one.name}`, incidents.get(one.explainedBy)]));
  /** Whatever stands still because of a service that is itself part of something larger stands under that. */
  const top = (root: string): string => {
    const passed = new Set<string>();
    let at = root;
    for (let above = why.get(at); above && !passed.has(above); above = why.get(at)) passed.add((at = above));
    return at;
  };
  for (const one of state.services) {
    const root = why.get(`service ${one.name}`);
    if (root) add(top(root), { key: `service ${one.name}`, name: one.name, words: one.state, link: `#/services/${encodeURIComponent(one.name)}` });
  }
  const needsYou = needing(state);
  for (const one of state.agents) {
    // What would not go on with its root either stands for itself.
    if (one.state === "dead" && needsYou(`agent ${one.agent_id}`)) continue;
    const words = one.state === "dead" ? (RETURNS.includes(one.gate ?? "") ? "dead, and respawned when it is back" : "dead") : one.state === "spawning" ? "starts when it is back" : "waits";
    for (const root of one.waits_for) add(top(root), { key: `agent ${one.agent_id}`, name: one.agent_id, words, link: `#/agents/${encodeURIComponent(one.agent_id)}` });
  }
  for (const one of state.sessions)
    for (const root of one.waits_for) add(top(root), { key: `session ${one.project}`, name: one.project, words: "waits", link: `#/sessions/${encodeURIComponent(one.project)}` });
  for (const one of state.environments)
    for (const root of one.waitsFor) add(top(root), { key: `environment ${one.project}`, name: one.name, words: "waits", link: "#/environments" });
  // Under a root that is shown, or not at all: what cannot be found there stands by itself.
  const shown = new Set([...(state.infrastructureEvent ? [EVENT] : []), ...state.notWell.filter((name) => name.startsWith("service ")), ...state.environments.map((one) => `environment ${one.project}`)]);
  return new Map([...found].filter(([root]) => shown.has(root)).map(([root, under]) => [root, [...under.values()]]));
}

const explained = (found: Consequences): Set<string> => new Set([...found.values()].flat().map((one) => one.key));

export function wrong(state: State): Wrong[] {
  const under = explained(consequences(state));
  const isUnwell = unwell(state);
  const services = state.services
    .filter((one) => isUnwell(`service ${one.name}`) && !under.has(`service ${one.name}`))
    .sort((a, b) => (WORST[standing(a)] ?? 4) - (WORST[standing(b)] ?? 4));
  const agents = state.agents.filter((one) => isUnwell(`agent ${one.agent_id}`) && !under.has(`agent ${one.agent_id}`));
  const found: Wrong[] = [];
  const other = (key: string, title: string, detail: string, link: string, tone: Tone, root?: string) =>
    found.push({ kind: "other", key, title, detail, link, tone, root });
  if (state.infrastructureEvent)
    other("event", "Infrastructure event", "Several services fail together; nothing is restarted until it has ended.", `#/incidents/${state.infrastructureEvent}`, "bad", EVENT);
  if (state.argus.store !== "ok") other("store", "The record", state.argus.store, "#/settings", "bad");
  found.push(...services.map((one): Wrong => ({ kind: "service", one })));
  for (const one of state.environments) {
    if (!isUnwell(`environment ${one.name}`)) continue;
    const sick = ailing(one);
    other(one.runId, `Environment ${one.name}`, sick.length ? sick.map(([name, guard]) => `${name} ${guard}`).join(", ") : one.state, "#/environments", sick.length ? "warn" : "bad", `environment ${one.project}`);
  }
  found.push(...agents.map((one): Wrong => ({ kind: "agent", one })));
  for (const one of state.sessions)
    if (isUnwell(`session ${one.project}`))
      other(`session ${one.project}`, one.project, `session ${one.state}: ${one.because}`, `#/sessions/${encodeURIComponent(one.project)}`, "warn");
  for (const one of state.breakers)
    if (isUnwell(`breaker ${one.name}`))
      other(one.name, one.name, `breaker ${one.state} after ${many(one.failures, "failure")}: ${one.history.at(-1)?.message ?? ""}`, "#/servers", one.state === "open" ? "bad" : "warn");
  return found;
}

/** Open, and no part of another: what is counted as a trouble. What outlasts its root stands for itself. */
export function alone(incidents: Incident[]): Incident[] {
  const over = new Set<unknown>(incidents.filter((one) => one.closed).map((one) => one.id));
  return incidents.filter((one) => !one.closed && (!one.data.explainedBy || over.has(one.data.explainedBy)));
}

/** Of an agent that asks to end only its request is shown. */
const SILENT = ["dead", "stale", "unknown"];

export type Need =
  | { kind: "event"; incident: string }
  | { kind: "stop"; one: StopRequest }
  | { kind: "session"; one: Session }
  | { kind: "agent"; one: Agent }
  | { kind: "environment"; one: Run }
  | { kind: "service"; one: Service };

export function keyOf(need: Need): string {
  switch (need.kind) {
    case "event":
      return EVENT;
    case "stop":
      return `stop ${need.one.id}`;
    case "session":
      return `session ${need.one.project}`;
    case "agent":
      return `agent ${need.one.agent_id}`;
    case "environment":
      return `environment ${need.one.runId}`;
    case "service":
      return `service ${need.one.name}`;
  }
}

/** Containers to which nothing happens by itself any more, with how that is called. */
export const givenUp = (run: Run): [string, string][] => Object.entries(run.guards).filter(([, guard]) => guard === "failed" || guard === "exhausted");

/** Those that somebody stopped or removed: fine, unless somebody waits for the environment. */
export const leftAlone = (run: Run): string[] =>
  Object.entries(run.guards)
    .filter(([, guard]) => guard === LEFT)
    .map(([name]) => name);

const LEFT = "left alone";

/** What is not well in it; where nothing is, what was left alone. */
function ailing(run: Run): [string, string][] {
  const guards = Object.entries(run.guards).filter(([, guard]) => guard !== "well");
  const sick = guards.filter(([, guard]) => guard !== LEFT);
  return sick.length ? sick : guards;
}

export function needs(state: State): Need[] {
  const isNamed = needing(state);
  // What keeps work from going on stands first: wishes to end can wait, and one agent can make many.
  const event = state.infrastructureEvent;
  return [
    ...(event && isNamed("infrastructure event") ? [{ kind: "event", incident: event } as const] : []),
    ...state.sessions.filter((one) => one.needs_you).map((one): Need => ({ kind: "session", one })),
    ...state.agents.filter((one) => SILENT.includes(one.state) && isNamed(`agent ${one.agent_id}`)).map((one): Need => ({ kind: "agent", one })),
    ...state.environments.filter((one) => isNamed(`environment ${one.name}`)).map((one): Need => ({ kind: "environment", one })),
    ...state.services.filter((one) => isNamed(`service ${one.name}`)).map((one): Need => ({ kind: "service", one })),
    ...state.stopRequests.map((one): Need => ({ kind: "stop", one })),
  ];
}

/** Nothing that could be well or not. */
export const isIdle = (state: State): boolean => !state.services.length && !state.agents.length && !state.sessions.length && !state.environments.length;

/** Nothing is wrong with what nobody has seen yet, and nobody may call it well. */
export const unseen = (state: State): number => state.services.filter((one) => standing(one) === "pending").length;

/** Only a person's word is missing: what Argus may not do by itself it proposes, once in an outage. */
export const isProposed = (state: State, one: Service): boolean =>
  state.autonomy === "cautious" && one.gate === "autonomy" && one.restartable && !one.restarts && state.budget.left > 0;

export interface Verdict {
  words: string;
  /** The same, said of a time that is over. */
  past: string;
  tone: Tone;
}

export function verdict(state: State): Verdict {
  const under = explained(consequences(state));
  const falls = state.services.filter((one) => one.state === "down");
  const down = falls.filter((one) => !under.has(`service ${one.name}`)).length;
  const more = falls.length - down;
  const unknown = state.services.filter((one) => one.state === "unknown").length;
  if (state.infrastructureEvent) {
    const say = (be: string, otherwise: string) => (falls.length ? `${falls.length} of ${state.services.length} services ${be} down` : otherwise);
    return {
      words: `Infrastructure event: ${say(falls.length === 1 ? "is" : "are", "nothing is restarted until it has ended")}`,
      past: `Infrastructure event: ${say(falls.length === 1 ? "was" : "were", "nothing was restarted")}`,
      tone: "bad",
    };
  }
  if (down) {
    const because = more ? `, and ${more} more because of ${down === 1 ? "it" : "them"}` : "";
    const say = (be: string) => `${down} of ${state.services.length} services ${be} down${because}`;
    return { words: say(down === 1 ? "is" : "are"), past: say(down === 1 ? "was" : "were"), tone: "bad" };
  }
  if (state.argus.store !== "ok") return { words: "The record cannot be written: nothing is acted on", past: "The record could not be written", tone: "bad" };
  if (unknown) return { words: `${many(unknown, "service")} cannot be checked`, past: `${many(unknown, "service")} could not be checked`, tone: "odd" };
  // Agents and sessions that wait for somebody are said to need you, and not counted once more.
  const asks = needing(state);
  const troubles = wrong(state).filter((one) => (one.kind === "agent" ? !asks(`agent ${one.one.agent_id}`) : one.kind === "service" || !asks(one.key))).length;
  if (troubles === 1) return { words: "One thing is not well", past: "One thing was not well", tone: "warn" };
  if (troubles) return { words: `${troubles} things are not well`, past: `${troubles} things were not well`, tone: "warn" };
  if (!state.well) return { words: "Agents need you", past: "Agents needed you", tone: "warn" };
  if (isIdle(state)) return { words: "Nothing is watched yet", past: "Nothing was watched yet", tone: "none" };
  const hidden = unseen(state);
  if (hidden) return { words: `${many(hidden, "service")} ${hidden === 1 ? "is" : "are"} not known yet`, past: `${many(hidden, "service")} ${hidden === 1 ? "was" : "were"} not known yet`, tone: "none" };
  return { words: "All is well", past: "All was well", tone: "ok" };
}

/** The verdict as it may be said now: of what nobody can see any more only how it was. */
export function headline(state: State, link: Link): { words: string; tone: Tone } {
  const { words, past, tone } = verdict(state);
  return link.kind === "lost" ? { words: `${past} at ${clock(link.since)}`, tone: "none" } : { words, tone };
}
