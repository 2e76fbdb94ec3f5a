// What a state comes to: is anything wrong, and who is waited for. Pure.
import type { Agent, Service, Session, State, StopRequest } from "./model";
import { type Tone, many } from "./words";

export const isUnwell = (one: Service): boolean => ["down", "unknown", "degraded"].includes(one.state) || one.flapping || one.failures > 0;

export type Wrong =
  | { kind: "service"; one: Service }
  | { kind: "agent"; one: Agent }
  | { kind: "other"; key: string; title: string; detail: string; link: string; tone: Tone };

const WORST: Record<string, number> = { down: 0, unknown: 1, degraded: 2 };

export function wrong(state: State): Wrong[] {
  const services = state.services.filter(isUnwell).sort((a, b) => (WORST[a.state] ?? 3) - (WORST[b.state] ?? 3));
  const agents = state.agents.filter((one) => ["dead", "stale", "unknown"].includes(one.state));
  const others: Wrong[] = [];
  const other = (key: string, title: string, detail: string, link: string, tone: Tone) =>
    others.push({ kind: "other", key, title, detail, link, tone });
  if (state.infrastructureEvent)
    other("event", "Infrastructure event", "Several services fail together; nothing is restarted until it has ended.", `#/incidents/${state.infrastructureEvent}`, "bad");
  if (state.argus.store !== "ok") other("store", "The record", state.argus.store, "#/settings", "bad");
  for (const one of state.breakers)
    if (one.state !== "closed")
      other(one.name, one.name, `breaker ${one.state} after ${many(one.failures, "failure")}: ${one.history.at(-1)?.message ?? ""}`, "#/servers", one.state === "open" ? "bad" : "warn");
  for (const one of state.environments) {
    const sick = Object.entries(one.guards).filter(([, guard]) => guard !== "well" && guard !== "left alone");
    if (one.state === "failed" || one.state === "interrupted" || sick.length)
      other(one.runId, `Environment ${one.project}`, sick.length ? sick.map(([name, guard]) => `${name} ${guard}`).join(", ") : one.state, "#/environments", sick.length ? "warn" : "bad");
  }
  for (const one of state.sessions)
    if (one.state === "dead" || one.state === "stalled")
      other(`session ${one.project}`, one.project, `session ${one.state}: ${one.because}`, `#/sessions/${encodeURIComponent(one.project)}`, "warn");
  return [...others, ...services.map((one): Wrong => ({ kind: "service", one })), ...agents.map((one): Wrong => ({ kind: "agent", one }))];
}

export type Need =
  | { kind: "stop"; one: StopRequest }
  | { kind: "session"; one: Session }
  | { kind: "agent"; one: Agent }
  | { kind: "service"; one: Service };

/** Gates that only a person opens. */
const YOURS = ["autonomy", "budget", "already restarted in this outage", "no restart configured", "self-exclusion"];

export function needs(state: State): Need[] {
  // What keeps work from going on stands first: wishes to end can wait, and one agent can make many.
  return [
    ...state.sessions.filter((one) => one.needs_you).map((one): Need => ({ kind: "session", one })),
    ...state.agents.filter((one) => one.state === "dead" && (one.gate || one.reason)).map((one): Need => ({ kind: "agent", one })),
    ...state.services.filter((one) => one.state === "down" && (YOURS.includes(one.gate ?? "") || !one.restartable)).map((one): Need => ({ kind: "service", one })),
    ...state.stopRequests.map((one): Need => ({ kind: "stop", one })),
  ];
}

export function verdict(state: State): { words: string; tone: Tone } {
  const down = state.services.filter((one) => one.state === "down").length;
  const unknown = state.services.filter((one) => one.state === "unknown").length;
  if (state.infrastructureEvent) return { words: "Infrastructure event: nothing is restarted until it has ended", tone: "bad" };
  if (down) return { words: `${down} of ${state.services.length} services ${down === 1 ? "is" : "are"} down`, tone: "bad" };
  if (state.argus.store !== "ok") return { words: "The record cannot be written: nothing is acted on", tone: "bad" };
  if (unknown) return { words: `${many(unknown, "service")} cannot be checked`, tone: "odd" };
  const troubles = wrong(state).filter((one) => one.kind === "service" || (one.kind === "other" && !one.key.startsWith("session "))).length;
  if (troubles) return { words: troubles === 1 ? "One thing is not well" : `${troubles} things are not well`, tone: "warn" };
  if (needs(state).length || !state.well) return { words: "Agents need you", tone: "warn" };
  return { words: "All is well", tone: "ok" };
}
