import { useState } from "preact/hooks";
import { forget, handOff, respawn, stop, type as typeInto } from "../actions";
import { part } from "../api";
import { Chart } from "../charts";
import { confirm } from "../dialog";
import type { Agent, Session, State } from "../model";
import { Ago, Empty, Facts, Mark, Rows, Status, Trouble, useFetched, useNarrow } from "../parts";
import { to } from "../route";
import { keyOf, needs } from "../verdict";
import { clock, many, percent, plain, tokens, waitsFor } from "../words";
import { type World, number } from "../world";
import { Asked, NeedCard, clipped } from "./overview";

const HANDOFF = 0.85;

/** How full a context is. The notch is where its work is handed on. */
function Gauge({ one }: { one: Session }) {
  const share = one.context_usage;
  const tone = share === null ? "none" : share > HANDOFF ? "bad" : share > 0.7 ? "warn" : "ok";
  return (
    <div class="gauge">
      <svg viewBox="0 0 100 8" preserveAspectRatio="none" class={tone} role="img" aria-label={share === null ? "Context not known" : `Context ${percent(share)}, handed on at 85 %`}>
        <rect class="track" width="100" height="8" />
        <rect class="fill" width={Math.min(100, (share ?? 0) * 100)} height="8" />
        <rect class="notch" x="84.6" width="0.8" height="8" />
      </svg>
      <span class="figure">{share === null ? "–" : `${Math.round(share * 100)} %`}</span>
      <span class="soft small">
        {tokens(one.context_used)} of {tokens(one.context_total)}
        {share !== null && share > HANDOFF ? " · handoff due" : one.predicted_handoff ? ` · handoff about ${clock(one.predicted_handoff)}` : ""}
      </span>
    </div>
  );
}

const SessionCard = ({ one }: { one: Session }) => (
  <article class="card session">
    <p class="line">
      <a data-row href={to("sessions", one.project)}>
        <strong>{one.project}</strong>
      </a>
      <Status state={one.state} />
      <span class="soft small side">
        <Ago at={one.since} bare />
      </span>
    </p>
    <Gauge one={one} />
    {(one.question || one.because) && <p class="said soft">{clipped(one.question || one.because, 160)}</p>}
    {one.waits_for.length > 0 && (
      <p class="small">
        <Mark tone="warn" /> {waitsFor(one.waits_for)}
      </p>
    )}
    {one.handoff && one.handoff.step !== "done" && (
      <p class="small">
        <Mark tone="warn" /> handoff: {one.handoff.step}
      </p>
    )}
  </article>
);

interface Spawn {
  id: number;
  project: string;
  task_id: string;
  description: string;
  status: string;
  reason: string;
  spawn_time: string;
  error: string;
}

function Spawns({ stamp }: { stamp: unknown }) {
  const { value, problem, again } = useFetched<{ spawns: Spawn[] }>("/api/spawns?limit=50", stamp);
  return (
    <section aria-labelledby="spawns">
      <h2 id="spawns">Work that sessions gave away</h2>
      {problem && <Trouble problem={problem} again={again} />}
      {value?.spawns.length === 0 && (
        <Empty>
          None is registered. An agent does it with the tool argus_register_spawn, a script with <code>argus spawns add</code>.
        </Empty>
      )}
      {value && value.spawns.length > 0 && (
        <div class="wide" tabIndex={0} role="region" aria-labelledby="spawns">
          <table>
            <thead>
              <tr>
                <th>State</th>
                <th>Task</th>
                <th>Project</th>
                <th>Begun</th>
                <th>What became of it</th>
              </tr>
            </thead>
            <tbody>
              {value.spawns.map((one) => (
                <tr key={one.id}>
                  <td>
                    <Status state={one.status} />
                  </td>
                  <td>
                    <strong>{clipped(one.task_id, 60)}</strong> <span class="soft">{clipped(one.description, 120)}</span>
                  </td>
                  <td>{one.project}</td>
                  <td class="figure">
                    <Ago at={one.spawn_time} />
                  </td>
                  <td>{clipped(one.error || one.reason, 160)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

/** One that is not started yet has it as its reason. */
const held = (one: Agent): string => (one.reason.startsWith("waits for") ? "" : waitsFor(one.waits_for));

const WAITING = 60;
const ORDER = ["dead", "stale", "unknown", "spawning", "alive"];

function List({ state, stamp }: { state: State; stamp: unknown }) {
  const [words, search] = useState("");
  const narrow = useNarrow();
  const wanted = words.trim().toLowerCase();
  const waiting = needs(state).filter((need) => !["event", "service", "environment"].includes(need.kind));
  const agents = state.agents
    .filter((one) => !wanted || `${one.agent_id} ${one.state} ${one.config_name} ${one.current_task} ${one.status}`.toLowerCase().includes(wanted))
    .sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state) || a.agent_id.localeCompare(b.agent_id));
  const sessions = state.sessions.filter((one) => !wanted || `${one.project} ${one.state} ${one.question}`.toLowerCase().includes(wanted));
  return (
    <>
      <h1>Agents and sessions</h1>
      <div class="tools">
        <input type="search" placeholder="Search  /" aria-label="Search agents and sessions" value={words} onInput={(event) => search(event.currentTarget.value)} />
      </div>
      {waiting.length > 0 && (
        <section aria-labelledby="waiting">
          <h2 id="waiting">Waiting for you</h2>
          <div class="grid">
            {waiting.slice(0, WAITING).map((need) => (
              <NeedCard key={keyOf(need)} need={need} state={state} />
            ))}
          </div>
          {waiting.length > WAITING && <p class="soft">and {waiting.length - WAITING} more, when these are answered</p>}
        </section>
      )}
      <section aria-labelledby="sessions">
        <h2 id="sessions">Sessions</h2>
        {state.sessions.length === 0 && (
          <Empty>
            No session is watched. Name one under <code>sessions.projects</code> in argus.yaml, or <code>argus sessions add</code>.
          </Empty>
        )}
        <div class="grid">
          {sessions.slice(0, 60).map((one) => (
            <SessionCard key={one.project} one={one} />
          ))}
        </div>
      </section>
      <section aria-labelledby="agents">
        <h2 id="agents">
          Agents <span class="soft">{many(state.agents.length, "agent")}</span>
        </h2>
        {state.agents.length === 0 && (
          <Empty>
            No agent is known. <code>argus agents spawn CONFIG --task …</code> starts one; any program that beats appears here too.
          </Empty>
        )}
        <Rows
          items={agents}
          height={narrow ? 74 : 46}
          name={(one) => one.agent_id}
          label="Agents"
          draw={(one) => (
            <a class="agent" data-row href={to("agents", one.agent_id)}>
              <Status state={one.state} />
              <span class="name">
                <strong>{one.agent_id}</strong>{" "}
                <span class="soft">{clipped([held(one), one.current_task, one.doing || one.status, one.reason, one.gate && `held back: ${one.gate}`].filter(Boolean).join(" · "))}</span>
              </span>
              <span class="figure soft age">
                <Ago at={one.last_seen} />
              </span>
            </a>
          )}
        />
      </section>
      <Spawns stamp={stamp} />
    </>
  );
}

interface Growth {
  samples: { at: string; used: number }[];
  total: number;
  handoff_at: number;
  tokens_per_minute: number | null;
  predicted_handoff: string | null;
}

function GrowthChart({ growth }: { growth: Growth }) {
  const samples = growth.samples.map((one) => ({ at: Date.parse(one.at), used: one.used }));
  const last = samples.at(-1);
  if (!last) return <Empty>No reading of its context yet: its hooks or its transcript tell of it.</Empty>;
  const due = growth.predicted_handoff ? Date.parse(growth.predicted_handoff) : null;
  const ahead = due !== null && due > last.at;
  const times = [...samples.map((one) => one.at), ...(ahead ? [due] : [])];
  const gap = ahead ? [null] : [];
  const lines = [
    { label: "tokens", colour: "--line-1", values: [...samples.map((one) => one.used), ...gap], filled: true, points: samples.length < 40 },
    { label: "handed on at 85 %", colour: "--line-2", values: times.map(() => growth.handoff_at), dashed: true },
    ...(ahead ? [{ label: "as it grows now", colour: "--line-3", values: [...samples.slice(1).map(() => null), last.used, growth.handoff_at], dashed: true }] : []),
  ];
  const said = `${tokens(last.used)} of ${tokens(growth.total)} tokens${due ? `, handed on about ${clock(due)}` : ""}`;
  return <Chart label={`Growth of the context: ${said}`} times={times} lines={lines} unit={(value) => tokens(value)} top={growth.total} height={220} />;
}

function SessionDetail({ one, stamp }: { one: Session; stamp: unknown }) {
  const { value, problem, again } = useFetched<Growth>(`/api/sessions/${part(one.project)}/growth`, stamp);
  return (
    <>
      <p class="back">
        <a href={to("agents")}>← Agents and sessions</a>
      </p>
      <div class="title">
        <h1>{one.project}</h1>
        <Status state={one.state} />
        <div class="buttons">
          <button onClick={() => confirm(typeInto(one))} disabled={one.session_type !== "cli"}>
            Type…
          </button>
          <button class="primary" onClick={() => confirm(handOff(one))}>
            Hand off…
          </button>
        </div>
      </div>
      {one.question && <p class="said">{one.question}</p>}
      {(one.prompt || one.state === "waiting_for_permission") && <Asked one={one} />}
      <Gauge one={one} />
      <Facts
        facts={[
          ["In this state", <Ago at={one.since} bare />],
          ["Dependencies", waitsFor(one.waits_for)],
          ["Because", one.because],
          ["Known from", one.source && plain(one.source)],
          ["Tool", one.tool],
          ["Agent", `${one.agent} · ${one.session_type} · ${one.session_id}`],
          ["Folder", one.path],
          ["Context known from", one.context_source && plain(one.context_source)],
          ["Takes on", plain(one.band)],
          ["Growth", value?.tokens_per_minute != null ? `${tokens(Math.round(value.tokens_per_minute))} tokens a minute` : null],
          ["Handoff expected", one.predicted_handoff && <Ago at={one.predicted_handoff} />],
          ["Limit ends", one.resets_at && <Ago at={one.resets_at} />],
          ["Subagents", one.subagents || null],
          ["Last activity", <Ago at={one.last_activity} />],
        ]}
      />
      {one.handoff && (
        <section aria-labelledby="handoff">
          <h2 id="handoff">Handoff</h2>
          <Facts facts={[["Step", one.handoff.step], ["Since", <Ago at={one.handoff.since} />], ["Document", one.handoff.path], ["Reason", one.handoff.reason]]} />
        </section>
      )}
      <section aria-labelledby="growth">
        <h2 id="growth">Growth of its context</h2>
        {problem && <Trouble problem={problem} again={again} />}
        {value && <GrowthChart growth={value} />}
      </section>
    </>
  );
}

function AgentDetail({ one, state, stamp }: { one: Agent; state: State; stamp: unknown }) {
  const logs = useFetched<{ text: string }>(`/api/agents/${part(one.agent_id)}/logs?lines=200`, stamp);
  const asks = state.stopRequests.filter((request) => request.agent_id === one.agent_id);
  const ended = ["dead", "respawned", "removed"].includes(one.state);
  return (
    <>
      <p class="back">
        <a href={to("agents")}>← Agents and sessions</a>
      </p>
      <div class="title">
        <h1>{one.agent_id}</h1>
        <Status state={one.state} />
        <div class="buttons">
          <button onClick={() => confirm(forget(one))}>Forget…</button>
          {one.state === "dead" && one.config_name && (
            <button class="primary" onClick={() => confirm(respawn(one))}>
              Respawn…
            </button>
          )}
          {!ended && (
            <button class="danger" onClick={() => confirm(stop(one))}>
              Stop…
            </button>
          )}
        </div>
      </div>
      {one.current_task && <p class="said">{one.current_task}</p>}
      {asks.length > 0 && (
        <div class="grid">
          {asks.map((request) => (
            <NeedCard key={request.id} need={{ kind: "stop", one: request }} state={state} />
          ))}
        </div>
      )}
      <Facts
        facts={[
          ["Last sign of life", <Ago at={one.last_seen} />],
          ["In this state", <Ago at={one.since} bare />],
          ["Dependencies", held(one)],
          ["Says", one.status],
          ["Doing", one.doing],
          ["Reason", one.reason],
          ["Held back", one.gate],
          ["Config", one.config_name],
          ["Generation", one.generation],
          ["Process", one.pid ? `${one.pid}${one.host ? ` on ${one.host}` : ""}` : null],
          ["Exit status", one.exit_status],
          ["Folder", one.worktree ?? one.project_path],
          ["Conversation", one.session],
        ]}
      />
      <section aria-labelledby="printed">
        <h2 id="printed">What it printed last</h2>
        {logs.problem && <Trouble problem={logs.problem} again={logs.again} />}
        {logs.value && !logs.value.text && <Empty>Nothing, or Argus did not start it.</Empty>}
        {logs.value?.text && (
          <pre class="log" tabIndex={0}>
            {logs.value.text}
          </pre>
        )}
      </section>
    </>
  );
}

export function AgentsView({ state, world, view, name }: { state: State; world: World; view: string; name: string }) {
  const stamp = number(world.timeline.find((one) => ["agents", "sessions"].includes(one.channel))?.id ?? null);
  if (!name) return <List state={state} stamp={stamp} />;
  const session = view === "sessions" ? state.sessions.find((one) => one.project === name) : undefined;
  // A context grows without an event: it is read again with every state.
  if (session) return <SessionDetail key={name} one={session} stamp={`${stamp}-${session.context_used}-${session.last_activity}`} />;
  const agent = view === "agents" ? state.agents.find((one) => one.agent_id === name) : undefined;
  if (agent) return <AgentDetail key={name} one={agent} state={state} stamp={stamp} />;
  return (
    <Empty>
      There is no {view === "sessions" ? "session" : "agent"} {name}. <a href={to("agents")}>All agents and sessions</a>
    </Empty>
  );
}
