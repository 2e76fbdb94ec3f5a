// What a person can have done from the page. Each is one operation of the daemon, through the same gates as everywhere.
import { Refused, call, part, post } from "./api";
import type { Action } from "./dialog";
import type { Agent, Breaker, Prompt, Service, Session, StopRequest } from "./model";
import { many } from "./words";

/** What nobody can say of whether it was taken must not look as if it had been. */
async function typed(asked: Promise<{ certain: boolean; reason: string }>) {
  const { certain, reason } = await asked;
  if (!certain) throw new Refused({ status: 0, code: "", message: `It was typed, and ${reason}.`, actions: ["look into its terminal before you do it again"] });
}

const of = (one: Service) => `/api/services/${part(one.name)}`;

export const check = (one: Service): Action => ({
  title: `Check ${one.name} now?`,
  says: `Argus looks at ${one.place} at once. The reading counts like any other: a failure counts towards an outage.`,
  verb: "Check now",
  run: () => post(`${of(one)}/check`),
  done: `${one.name} was checked`,
});

export const restart = (one: Service): Action => ({
  title: `Restart ${one.name}?`,
  says: `Argus runs the restart of argus.yaml if every gate allows it, then looks whether ${one.name} is back. It counts against the hour's budget. Whoever uses ${one.name} is interrupted.`,
  verb: "Restart",
  danger: true,
  run: () => post(`${of(one)}/restart`),
  done: `The restart of ${one.name} is on record and under way`,
});

export const pause = (one: Service): Action => ({
  title: `Pause ${one.name}?`,
  says: "It goes on being checked. Until the pause is over nobody is told that it is down, and it is not restarted.",
  verb: "Pause",
  choice: { label: "For", value: "1h", options: [["15m", "15 minutes"], ["1h", "1 hour"], ["4h", "4 hours"], ["24h", "a day"]] },
  run: ({ choice }) => post(`${of(one)}/pause`, { for: choice }),
  done: `${one.name} is paused`,
});

export const resume = (one: Service): Action => ({
  title: `Resume ${one.name}?`,
  says: "The pause ends now: alerts and restarts are possible again with the next reading.",
  verb: "Resume",
  run: () => post(`${of(one)}/resume`),
  done: `${one.name} is resumed`,
});

export const autonomy = (from: string, to: string, means: string): Action => ({
  title: `Change autonomy from ${from} to ${to}?`,
  says: `${means} It holds until it is changed again, or until the value in argus.yaml changes.`,
  verb: `Set ${to}`,
  danger: to === "full",
  run: () => call("PUT", "/api/autonomy", { level: to }),
  done: `Autonomy is ${to}`,
});

export const reset = (one: Pick<Breaker, "name" | "failures">): Action => ({
  title: `Reset the breaker ${one.name}?`,
  says: `It stands after ${many(one.failures, "failure")} in a row. One call is let through now; the breaker closes if that succeeds and opens again if not.`,
  verb: "Reset",
  run: () => post(`/api/breakers/${part(one.name)}/reset`),
  done: `${one.name}: the next call is let through, and decides`,
});

export const answer = (one: StopRequest, approved: boolean): Action => ({
  title: approved ? `Let ${one.agent_id} end?` : `Have ${one.agent_id} go on?`,
  says: approved
    ? "It is told with its next heartbeat, ends by itself, and is not started again."
    : "It is told that it is not to end, with your words, and goes on.",
  verb: approved ? "Approve" : "Deny",
  danger: approved,
  field: { label: "What it is told", value: "", optional: true },
  run: ({ text }) => post(`/api/stop-requests/${part(one.id)}/respond`, { approved, response: text }),
  done: approved ? `${one.agent_id} may end` : `${one.agent_id} goes on`,
});

export const stop = (one: Agent): Action => ({
  title: `Stop ${one.agent_id}?`,
  says: one.pid
    ? "It is asked to end and has 30 seconds; then its whole process group is ended. It stays stopped: nothing respawns it."
    : "Argus does not know its process: it is told to end with its next heartbeat, and leaves the list. Nothing respawns it.",
  verb: "Stop",
  danger: true,
  run: () => post(`/api/agents/${part(one.agent_id)}/stop`),
  done: `${one.agent_id} is being stopped`,
});

export const respawn = (one: Agent): Action => ({
  title: `Start ${one.agent_id} again?`,
  says: "Its task is started again now, under a new id. This is your approval where autonomy, backoff or the cap held it back.",
  verb: "Respawn",
  run: () => post(`/api/agents/${part(one.agent_id)}/respawn`),
  done: `${one.agent_id} is started again`,
});

export const forget = (one: Agent): Action => ({
  title: `Forget ${one.agent_id}?`,
  says: "It leaves the list and is not started again. If it still beats, it is told to end.",
  verb: "Forget",
  danger: true,
  run: () => call("DELETE", `/api/heartbeats/${part(one.agent_id)}`),
  done: `${one.agent_id} is forgotten`,
});

export const handOff = (one: Session): Action => ({
  title: `Hand ${one.project} on now?`,
  says: "Its agent is asked to write the handoff document. Only once that is complete is its context cleared and the work taken up again.",
  verb: "Hand off",
  run: () => post(`/api/sessions/${part(one.project)}/handoff`),
  done: `The handoff of ${one.project} has begun`,
});

export const type = (one: Session): Action => ({
  title: `Type into ${one.project}?`,
  says: `The line is typed into the tmux session ${one.session_id} and submitted, once. Never over a half-typed line or into an open dialog: then it is refused.`,
  verb: "Type it",
  field: { label: "What is typed", value: "", long: true },
  run: ({ text }) => typed(post(`/api/sessions/${part(one.project)}/tell`, { text })),
  done: `It was typed into ${one.project}`,
});

export const leave = (one: Session, prompt: Prompt, allow: boolean): Action => ({
  title: allow ? `Allow ${one.project} this, once?` : `Deny ${one.project} this?`,
  says: allow
    ? "Argus looks whether this very question still stands in its terminal, and presses the key of its plain yes, once. Nothing is allowed beyond this one time."
    : "Argus looks whether this very question still stands in its terminal, and presses the key of its no, once. The agent stops and waits for what you tell it.",
  quote: prompt.text,
  verb: allow ? "Allow once" : "Deny",
  danger: allow,
  run: () => typed(post(`/api/sessions/${part(one.project)}/answer`, { answer: allow ? "allow" : "deny", prompt: prompt.id })),
  done: allow ? `${one.project} may do it, this once` : `${one.project} may not`,
});

export const reload: Action = {
  title: "Read argus.yaml again?",
  says: "It is taken up whole or not at all. Services that did not change keep their state; a broken file is refused with its errors and the old one stays in force.",
  verb: "Reload",
  run: () => post("/api/reload"),
  done: "The configuration was taken up",
};
