// Times, numbers and events in words.
import { type Told, text } from "./model";
import { now } from "./time";

export const duration = (seconds: number): string => {
  const s = Math.max(0, Math.round(seconds));
  if (s < 90) return `${s} s`;
  if (s < 90 * 60) return `${Math.round(s / 60)} min`;
  if (s < 36 * 3600) return `${Math.round(s / 3600)} h`;
  return `${Math.round(s / 86400)} d`;
};

/** Everywhere from 00:00 to 23:59, wherever the reader is. */
export const timeOf = (value: string | number, parts: Intl.DateTimeFormatOptions = {}): string =>
  new Date(value).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23", ...parts });

/** The day only where it is another one. */
export const clock = (value: string | number, parts: Intl.DateTimeFormatOptions = {}): string => {
  const day = new Date(value);
  const time = timeOf(value, parts);
  return day.toDateString() === new Date(now()).toDateString() ? time : `${day.toLocaleDateString([], { month: "short", day: "numeric" })} ${time}`;
};

export const dayOf = (value: string | number): string => new Date(value).toLocaleDateString([], { year: "numeric", month: "short", day: "numeric" });

export const moment = (value: string | number): string => `${dayOf(value)} ${timeOf(value)}`;

/** A line of evidence that begins with when it was seen, by the reader's clock as everything around it. */
export const byOurClock = (line: string): string =>
  line.replace(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z(?= )/, (when) => clock(when, { fractionalSecondDigits: 3 }));

export const ms = (value: number | null): string =>
  value === null ? "–" : value >= 10_000 ? `${(value / 1000).toFixed(0)} s` : value >= 100 ? `${value.toFixed(0)} ms` : `${value.toFixed(1)} ms`;

/** Cut, not rounded: 100 % is said only when it is. */
export const percent = (share: number | null): string =>
  share === null ? "–" : share === 1 ? "100 %" : `${(Math.floor(share * 10_000) / 100).toFixed(2)} %`;

export const tokens = (count: number | null): string => (count === null ? "–" : count >= 1000 ? `${Math.round(count / 1000)}k` : String(count));

export const many = (count: number, one: string, more = `${one}s`): string => `${count} ${count === 1 ? one : more}`;

export const plain = (word: string): string => word.replaceAll("_", " ");

/** For what somebody waits: "service db", "environment shop". */
export const waitsFor = (roots: string[]): string => (roots.length ? `waits for ${roots.slice(0, 6).join(", ")}${roots.length > 6 ? ` and ${roots.length - 6} more` : ""}` : "");

const list = (value: unknown): string => (Array.isArray(value) ? value.slice(0, 6).join(", ") + (value.length > 6 ? "…" : "") : "");

type Say = (data: Record<string, unknown>) => string;

/** With what follows, where there is something. */
const and = (said: string, more: unknown): string => (text(more) ? `${said}: ${text(more)}` : said);

const RESTARTED: Record<string, string> = {
  recovered: "was restarted and is up again",
  still_down: "was restarted and is still down",
  failed: "could not be restarted",
  not_needed: "was well again before it was restarted",
  unverified: "was restarted, and nobody could look whether that helped",
};

const ESCALATED: Record<string, string> = {
  failed: "its restart could not be carried out",
  unverified: "it was restarted, and nobody could look at it again",
};

const WAITED: Record<string, string> = {
  started: "what it waited for is back: it is started",
  failed: "waited for what it needs, and could not be started",
  stopped: "waits no longer to be started: it was stopped",
  removed: "waits no longer to be started: it was removed",
};

const GONE: Record<string, string> = {
  stopped: "was stopped",
  removed: "was removed",
  finished: "has done its task",
  unwatched: "is not watched any more",
  cleaned: "was cleaned",
  set_up_anew: "is set up anew",
  not_up: "is not up any more",
};

const SPAWNED: Record<string, string> = { running: "is being done", completed: "is done", failed: "has failed", stalled: "does not get on" };

const HANDING: Record<string, string> = {
  asking: "is asked for the document of its handoff",
  writing: "writes the document of its handoff",
  clearing: "has written its document; its context is cleared",
  resuming: "has an empty context, and is told where to go on",
};

const SAID: Record<string, Say> = {
  service_down: (d) => `is down: ${text(d.detail) || text(d.cause)}`,
  service_recovered: (d) => `is back after ${duration(Number(d.downSeconds))}${d.restarted && d.restartHelped !== false ? ", after a restart" : ""}`,
  service_escalated: (d) => `is handed to you: ${ESCALATED[text(d.why)] ?? "it was restarted and is still down"}`,
  service_unknown: (d) => `cannot be checked: ${text(d.detail)}`,
  service_flapping: (d) => `goes up and down: ${text(d.flips)} times`,
  service_settled: (d) => `has settled: ${text(d.to)}`,
  state_changed: (d) => `${text(d.from) || "pending"} → ${text(d.to)}${d.detail ? `: ${text(d.detail)}` : ""}`,
  service_removed: () => "is not watched any more",
  decision_changed: (d) =>
    d.action === "proposed" ? `is to be restarted once you approve it: ${text(d.hint)}` : d.gate ? `is not restarted (${text(d.gate)}): ${text(d.hint)}` : "is to be restarted: nothing holds it back any more",
  restart_waits: (d) => `a restart asked for by ${text(d.by)} waits: ${text(d.waitsFor)}`,
  restart_withdrawn: (d) => (d.argusEnded || d.why ? `a restart that ${text(d.by)} asked for is not done: ${d.argusEnded ? "Argus ended while it waited" : text(d.why)}` : `a restart was taken back by ${text(d.by)}`),
  restart_started: (d) => `restart begun by ${text(d.by)}${d.askedBy ? `, as ${text(d.askedBy)} asked for as well` : ""}${d.outwaited ? `, though ${text(d.outwaited)}` : ""}`,
  restart_finished: (d) => and(RESTARTED[text(d.outcome)] ?? `restart ${plain(text(d.outcome))}`, d.outcome === "failed" ? d.problem || (d.exitCode ? `exit status ${text(d.exitCode)}` : d.detail) : ""),
  explained_otherwise: (d) => (d.explainedBy ? `is down because of ${text(d.root) || "several that fail together"} from now on` : "is not down because of what it depended on any more"),
  restart_refused: (d) => `restart refused (${text(d.gate)}): ${text(d.hint)}`,
  service_paused: (d) => `paused until ${d.until ? clock(text(d.until)) : "…"} by ${text(d.by)}`,
  service_resumed: (d) => `resumed by ${text(d.by)}`,
  certificate_ends_soon: (d) => `its certificate ends ${moment(text(d.expires))}`,
  witness_failed: (d) => `Argus cannot reach itself: ${text(d.detail)}`,
  witness_answers: () => "Argus reaches itself again",
  infrastructure_event: (d) => `infrastructure event: ${list(d.services)} fail together`,
  infrastructure_event_ended: (d) => `infrastructure event over${list(d.stillFailing) ? `; still failing: ${list(d.stillFailing)}` : ""}`,
  autonomy_changed: (d) => `autonomy ${text(d.from)} → ${text(d.to)} by ${text(d.by)}`,
  config_reloaded: (d) => `configuration read again by ${text(d.by)}${list(d.changed) ? `; new: ${list(d.changed)}` : ""}`,
  breaker_opened: (d) => `breaker opened after ${many(Number(d.failures), "failure")} in a row: ${text(d.lastFailure)}`,
  breaker_closed: () => "breaker closed",
  breaker_reset: (d) => `breaker reset by ${text(d.by)}`,
  notification_sent: (d) => `told you: ${text(d.title)}`,
  notification_included: (d) => `told you with others: ${text(d.title)}`,
  notification_delayed: (d) => `could not tell you yet, and tries again: ${text(d.title)}`,
  notification_held: (d) => `tells you later (${text(d.why)}): ${text(d.title)}`,
  argus_started: (d) => `Argus ${text(d.version)} started`,
  argus_stopped: () => "Argus stopped",
  clock_jump: (d) => `the clock jumped: ${text(d.kind) || text(d.reason)}`,
  stop_requested: (d) => `asks to end: ${text(d.reason)}`,
  stop_answered: (d) => `its wish to end was ${text(d.status)} by ${text(d.by)}`,
  session_state_changed: (d) => `${plain(text(d.from))} → ${plain(text(d.to))}${d.question ? `: ${text(d.question)}` : ""}`,
  session_answered: (d) => `${text(d.answer) === "allow" ? "allowed" : "denied"} by ${text(d.by)}${d.outcome === "answered" ? "" : `, ${text(d.outcome)}`}: ${text(d.question)}`,
  session_needs_you: (d) => `needs you: ${text(d.question) || plain(text(d.state))}`,
  session_prompted: (d) => `${d.outcome === "typed" ? "was told" : `could not be told (${text(d.reason)})`}: ${text(d.text)}`,
  session_registered: (d) => `is watched as a session, by ${text(d.by)}`,
  session_removed: (d) => `is not watched any more, by ${text(d.by)}`,
  agent_registered: () => "was heard of for the first time",
  agent_died: (d) => and("died", d.reason),
  agent_hung: () => "does not run any more, though its process is there",
  agent_silent: (d) => `has not been heard of for ${duration(Number(d.silentSeconds))}; its process lives`,
  agent_unknown: (d) => `has not been heard of for ${duration(Number(d.silentSeconds))}, and nobody here can look`,
  agent_twin: () => "has its id twice: another process says it is this agent",
  agent_back: () => "is alive after all",
  agent_removed: (d) => and("is over", plain(text(d.reason))),
  agent_escalated: (d) => `is handed to you (${text(d.gate)}): ${text(d.hint)}`,
  spawn_started: (d) => `is started${Number(d.generation) > 1 ? " again" : ""} by ${text(d.by)}`,
  spawn_failed: (d) => and("could not be started", d.reason),
  stop_started: (d) => `is to end, as ${text(d.by)} asked`,
  stop_finished: (d) => (d.outcome === "asked" ? "is told to end when it is heard of next" : "was told to end"),
  spawn_registered: (d) => `gave work away: ${text(d.task_id)}`,
  spawn_status_changed: (d) => and(`the work it gave away, ${text(d.task_id)}, ${SPAWNED[text(d.status)] ?? `is ${text(d.status)}`}`, d.reason),
  agent_spawned: () => "was started",
  agent_respawned: (d) => (d.previous ? `goes on with the task of ${text(d.previous)}` : text(d.message)),
  respawn_held_back: (d) => `is not respawned yet (${text(d.gate)})`,
  handoff_started: (d) => `begins to hand its work on: it is asked for a document, by ${text(d.by)}`,
  handoff_step: (d) => HANDING[text(d.step)] ?? `hands its work on: ${text(d.step)}`,
  handoff_called_off: (d) => and("does not hand its work on after all", d.reason),
  handoff_failed: (d) => and("could not hand its work on", d.reason),
  handoff_held_back: (d) => `does not hand its work on yet (${text(d.gate)}), with its context ${percent(Number(d.context_usage))} full`,
  handoff_done: (d) => `has handed its work on, and goes on with an empty context: ${text(d.path)}`,
  dependency_lost: (d) => `needs ${text(d.dependency)}, and waits`,
  dependency_back: (d) => (list(d.still_waits_for) ? `hears that ${text(d.dependency)} is back, and waits for ${list(d.still_waits_for)}` : "goes on"),
  dependency_wait_ended: (d) => (d.outcome === "died" ? "died while it waited" : `${GONE[text(d.outcome)] ?? "is gone"}, and waits no longer for ${text(d.dependency)}`),
  spawn_waits: (d) => `is started when ${list(d.dependencies)} is back`,
  spawn_wait_ended: (d) => WAITED[text(d.outcome)] ?? "waits no longer to be started",
  restart_attempt: (d) => `${text(d.reason)}; restart ${text(d.attempt)}`,
  restart_ordered: (d) => `is started: restart ${text(d.attempt)}`,
  restart_exhausted: (d) => and(`is given up after ${many(Number(d.attempts), "restart")}`, d.reason),
  container_failed: (d) => and("has failed, and is not restarted", d.reason),
  container_left_alone: (d) => and("is left alone", d.reason),
  restart_success: (d) => `is back after restart ${text(d.attempt)}`,
  engine_lost: (d) => and("the Docker engine does not answer any more", d.reason),
  engine_back: (d) => `the Docker engine answers again, after ${duration(Number(d.awaySeconds))}`,
  engine_missed: (d) => and(`the Docker engine is away for ${duration(Number(d.awaySeconds))}, and ${list(d.environments)} with it`, d.reason),
  engine_found: (d) => `the Docker engine is back after ${duration(Number(d.awaySeconds))}`,
  record_away_ended: (d) => and(`the record could not be written for ${duration(Number(d.seconds))}`, d.why),
  context_band_changed: (d) => `context ${percent(Number(d.context_usage))}: ${plain(text(d.band))}`,
};

/** Generic words for the many that need no special ones. */
const rest: Say = (d) =>
  [d.outcome, d.status, d.to, d.step, d.gate && `gate ${text(d.gate)}`, d.reason || d.cause || d.detail || d.message, d.by && `by ${text(d.by)}`]
    .filter(Boolean)
    .map((one) => plain(text(one)))
    .join(", ");

export function subject(one: Told): string {
  const d = one.data;
  return text(d.service ?? d.agent_id ?? d.subject ?? d.project ?? d.container ?? d.name ?? "");
}

export function sentence(one: Told): string {
  const say = SAID[one.type];
  if (say) return say(one.data);
  const more = rest(one.data);
  return plain(one.type) + (more ? `: ${more}` : "");
}

export type Tone = "ok" | "warn" | "bad" | "odd" | "none";

const TONES: Record<string, Tone> = {
  up: "ok", alive: "ok", working: "ok", well: "ok", closed: "ok", running: "ok", healthy: "ok", completed: "ok", available: "ok", done: "ok",
  degraded: "warn", failing: "warn", stale: "warn", spawning: "warn", idle: "none", rate_limited: "warn", stalled: "bad", "half-open": "warn", waiting: "warn",
  restarting: "warn", "setting up": "warn", cleaning: "warn", starting: "warn", paused: "warn",
  waiting_for_permission: "warn", waiting_for_input: "warn", interrupted: "warn",
  down: "bad", dead: "bad", open: "bad", failed: "bad", exhausted: "bad", exited: "bad", unhealthy: "bad", abandoned: "bad", unavailable: "bad", absent: "bad",
  unknown: "odd", pending: "odd", unwatched: "odd", "left alone": "none", respawned: "none", removed: "none", none: "none", created: "none",
};

export const toneOf = (state: string): Tone => TONES[state] ?? "none";

const BAD = /down|died|failed|lost|missed|escalated|exhausted|refused|crash|infrastructure_event$|opened|failing|dead/;
const GOOD = /recovered|back|found|ready|finished|closed|completed|respawned|ended|verified|settled|spawned/;
const WARN = /held|silent|stale|paused|needs|unknown|flapping|requested|reset|conflict|reassigned|soon|waiting|restart/;

export function toneOfEvent(one: Told): Tone {
  const outcome = text(one.data.outcome);
  if (one.type === "restart_finished") return outcome === "recovered" ? "ok" : outcome === "not_needed" ? "none" : "bad";
  if (one.type === "spawn_wait_ended") return outcome === "started" ? "ok" : outcome === "failed" ? "bad" : "none";
  if (one.type === "dependency_wait_ended") return outcome === "died" ? "bad" : "none";
  if (one.type === "state_changed") return toneOf(text(one.data.to));
  if (one.type === "infrastructure_event_ended" || one.type === "restart_success") return "ok";
  return BAD.test(one.type) ? "bad" : WARN.test(one.type) ? "warn" : GOOD.test(one.type) ? "ok" : "none";
}

/** What Argus did by itself or had asked of it, as opposed to what it saw, and to what somebody did with its help. */
const ACTS =
  /^(restart_started|restart_finished|restart_refused|service_escalated|decision_changed|agent_respawned|agent_spawned|respawn_held_back|agent_escalated|spawn_failed|handoff_\w+|session_prompted|notification_sent|container_restart\w*|restart_\w+|stop_finished|breaker_opened|infrastructure_event)$/;

const isByAPerson = (one: Told): boolean => (one.type === "restart_withdrawn" && !one.data.why) || (one.type === "session_prompted" && one.data.what === "message");

export const isAct = (one: Told): boolean => ACTS.test(one.type) && !isByAPerson(one);
