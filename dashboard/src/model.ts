// The parts of GET /api/state and its neighbours that the page shows. /openapi.json says all of it.

export interface Service {
  name: string;
  type: string;
  state: string;
  since: string;
  latencyMs: number | null;
  detail: string;
  code: string | null;
  flapping: boolean;
  failures: number;
  countedAnew: boolean;
  tlsExpires: string | null;
  lastCheck: string | null;
  place: string;
  port: number | null;
  interval: number;
  restartable: boolean;
  repairing: boolean;
  incident: string | null;
  /** The incident of what makes it fail. */
  explainedBy: string | null;
  gate: string | null;
  waitsFor: string | null;
  restarts: number;
  pausedUntil: string | null;
  dependsOn: string[];
  uptime: { "24h": number | null; "7d": number | null; "30d": number | null };
}

export interface Agent {
  agent_id: string;
  generation: number;
  state: string;
  since: string;
  config_name: string;
  project_path: string;
  status: string;
  current_task: string;
  doing: string;
  worktree: string | null;
  pid: number | null;
  host: string | null;
  last_seen: string | null;
  age_seconds: number | null;
  exit_status: number | null;
  reason: string;
  gate: string | null;
  /** What it needs and is down: "service db", "environment shop". */
  waits_for: string[];
  session: string;
  incident: string | null;
}

export interface Handoff {
  id: string;
  step: string;
  path: string;
  since: string;
  reason: string;
}

/** A question for leave as it stands open in a session's terminal. */
export interface Prompt {
  id: string;
  question: string;
  text: string;
  choices: string[];
  can_allow: boolean;
  can_deny: boolean;
}

export interface Session {
  project: string;
  session_type: string;
  session_id: string;
  agent: string;
  path: string;
  state: string;
  since: string;
  because: string;
  source: string | null;
  tool: string;
  question: string;
  prompt: Prompt | null;
  resets_at: string | null;
  subagents: number;
  context_usage: number | null;
  context_used: number | null;
  context_total: number;
  context_source: string | null;
  band: string;
  predicted_handoff: string | null;
  handoff: Handoff | null;
  last_activity: string;
  waits_for: string[];
  needs_you: boolean;
}

export interface StopRequest {
  id: string;
  agent_id: string;
  reason: string;
  context: string;
  work_completed: string;
  created: string;
}

export interface Failure {
  at: string;
  code: string;
  message: string;
}

export interface Breaker {
  name: string;
  state: string;
  failures: number;
  since: string | null;
  retryInSeconds: number | null;
  history: Failure[];
}

export interface Incident {
  id: string;
  kind: string;
  subject: string;
  opened: string;
  closed: string | null;
  cause: string;
  data: Record<string, unknown>;
}

export interface Run {
  /** With its folder where several on record are called so. */
  name: string;
  project: string;
  folder: string;
  configFile: string | null;
  state: string;
  since: string;
  runId: string;
  network: string | null;
  containers: Record<string, string>;
  mocks: string[];
  guards: Record<string, string>;
  waitsFor: string[];
}

export interface State {
  well: boolean;
  /** By kind and name: "service db", "environment shop". */
  notWell: string[];
  needsYou: string[];
  argus: {
    version: string;
    pid: number;
    url: string;
    home: string;
    config: string | null;
    discovered: boolean;
    started: string;
    notices: string[];
    store: string;
  };
  autonomy: string;
  budget: { left: number; most: number };
  infrastructureEvent: string | null;
  breakers: Breaker[];
  services: Service[];
  agents: Agent[];
  sessions: Session[];
  stopRequests: StopRequest[];
  environments: Run[];
  incidents: Incident[];
  cursor: string | null;
  timestamp: number;
}

/** What came over the stream. An event of the journal has an id; what is only shown has none. */
export interface Told {
  id: string | null;
  channel: string;
  type: string;
  data: Record<string, unknown>;
  at: number;
}

export const text = (value: unknown): string =>
  value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
