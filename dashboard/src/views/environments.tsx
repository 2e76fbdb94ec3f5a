import { useState } from "preact/hooks";
import { reset } from "../actions";
import { post } from "../api";
import { confirm } from "../dialog";
import type { Run, State } from "../model";
import { Ago, Empty, Facts, Mark, Status, Trouble, useFetched } from "../parts";
import { clock, many, waitsFor } from "../words";
import { type World, number } from "../world";
import { clipped } from "./overview";

interface Port {
  containerPort: number;
  hostPort: number;
  host: string;
  protocol: string;
}

interface Part {
  name: string;
  container: string;
  image: string;
  state: string;
  health: string | null;
  exitCode: number | null;
  oomKilled: boolean;
  started: string | null;
  ports: Port[];
  guard: { state: string; restarts: number; maxRestarts: number; nextAttempt: string | null; reason: string | null; crashLoop: boolean } | null;
}

interface Picture {
  services: Part[];
  mocks: Part[];
  portMappings: { service: string; originalPort: number; actualPort: number; reassigned: boolean }[];
  circuitBreaker: { name: string; state: string; failureCount: number; retryInSeconds: number | null };
  warnings: string[];
  problem: { code: string; message: string; suggestedActions: string[] } | null;
  configProblem: { code: string; message: string; suggestedActions: string[] } | null;
}

const asked = (run: Run) => ({ projectPath: run.folder, ...(run.configFile ? { configFile: run.configFile } : {}) });

function Logs({ run, container }: { run: Run; container: string }) {
  const { value, problem, again } = useFetched<{ lines: string[] }>(`${run.runId}/${container}`, 0, () =>
    post("/api/environments/logs", { ...asked(run), container, lines: 100 }),
  );
  if (problem) return <Trouble problem={problem} again={again} />;
  if (!value) return <Empty>Reading…</Empty>;
  return value.lines.length ? (
    <pre class="log" tabIndex={0}>
      {value.lines.join("\n")}
    </pre>
  ) : (
    <Empty>It printed nothing.</Empty>
  );
}

interface MockRequest {
  mock: string;
  method: string;
  path: string;
  status: number;
  route: string | null;
  timestamp: number;
}

function Requests({ run, mock }: { run: Run; mock: string }) {
  const { value, problem, again } = useFetched<{ requests: MockRequest[]; mocks: string[] }>(`${run.runId}/${mock}/requests`, 0, () =>
    post("/api/environments/mock_requests", { ...asked(run), mockName: mock, limit: 30 }),
  );
  if (problem) return <Trouble problem={problem} again={again} />;
  if (!value) return <Empty>Reading…</Empty>;
  if (!value.requests.length) return <Empty>Nobody asked it yet.</Empty>;
  return (
    <table>
      <tbody>
        {[...value.requests].reverse().map((one, place) => (
          <tr key={place}>
            <td class="figure soft">{clock(one.timestamp)}</td>
            <td>
              <code>
                {one.method} {clipped(one.path, 120)}
              </code>
            </td>
            <td class="figure">{one.status}</td>
            <td class="soft">{one.route ?? "no route"}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function PartRow({ run, one, mock }: { run: Run; one: Part; mock: boolean }) {
  const [shown, show] = useState<"" | "logs" | "requests">("");
  const guard = one.guard;
  const toggle = (what: "logs" | "requests") => show(shown === what ? "" : what);
  return (
    <li class="part">
      <div class="line">
        <Status state={one.state} also={one.health ?? (one.exitCode !== null ? `exit ${one.exitCode}` : undefined)} />
        <strong>{one.name}</strong>
        <span class="soft small">{one.image}</span>
        <span class="ports">
          {one.ports.map((port) => (
            <code key={`${port.hostPort}${port.protocol}`}>
              {port.host || "localhost"}:{port.hostPort} → {port.containerPort}
            </code>
          ))}
        </span>
        {one.oomKilled && <span class="status bad">out of memory</span>}
        {guard && (
          <span class="small guard">
            <span class="soft">guard</span> <Status state={guard.state} also={guard.restarts ? `${many(guard.restarts, "restart")} of ${guard.maxRestarts}` : undefined} />
            {guard.crashLoop && <span class="bad"> crash loop</span>}
          </span>
        )}
        <span class="side buttons">
          {mock && (
            <button class="quiet" aria-expanded={shown === "requests"} onClick={() => toggle("requests")}>
              Requests
            </button>
          )}
          <button class="quiet" aria-expanded={shown === "logs"} onClick={() => toggle("logs")}>
            Logs
          </button>
        </span>
      </div>
      {guard && (guard.reason || guard.nextAttempt) && (
        <p class="small guard soft">
          {guard.nextAttempt && (
            <>
              next start <Ago at={guard.nextAttempt} />{" "}
            </>
          )}
          {clipped(guard.reason ?? "")}
        </p>
      )}
      {shown === "logs" && <Logs run={run} container={one.name} />}
      {shown === "requests" && <Requests run={run} mock={one.name} />}
    </li>
  );
}

function Environment({ run, stamp }: { run: Run; stamp: unknown }) {
  const { value, problem, again } = useFetched<Picture>(`${run.runId}`, stamp, () => post("/api/environments/status", asked(run)));
  const moved = value?.portMappings.filter((one) => one.reassigned) ?? [];
  const breaker = value?.circuitBreaker;
  return (
    <article class="card environment">
      <div class="title">
        <h2>{run.project}</h2>
        <Status state={run.state} />
        <span class="soft">
          <Ago at={run.since} />
        </span>
      </div>
      <Facts facts={[["Dependencies", waitsFor(run.waitsFor)], ["Folder", run.folder], ["File", run.configFile], ["Network", run.network], ["Run", run.runId]]} />
      {problem && <Trouble problem={problem} again={again} />}
      {value?.problem && <Trouble problem={{ status: 0, ...value.problem, actions: value.problem.suggestedActions }} again={again} />}
      {value?.configProblem && <Trouble problem={{ status: 0, ...value.configProblem, actions: value.configProblem.suggestedActions }} />}
      {!value && !problem && <Empty>Asking the engine…</Empty>}
      {value && (
        <>
          <h3>Containers</h3>
          {value.services.length === 0 && <Empty>None.</Empty>}
          <ul class="plain">
            {value.services.map((one) => (
              <PartRow key={one.name} run={run} one={one} mock={false} />
            ))}
          </ul>
          {value.mocks.length > 0 && (
            <>
              <h3>Mocks</h3>
              <ul class="plain">
                {value.mocks.map((one) => (
                  <PartRow key={one.name} run={run} one={one} mock />
                ))}
              </ul>
            </>
          )}
          {moved.length > 0 && (
            <p>
              <Mark tone="warn" /> Ports that were taken: {moved.map((one) => `${one.service} ${one.originalPort} → ${one.actualPort}`).join(", ")}
            </p>
          )}
          {value.warnings.map((one) => (
            <p key={one} class="soft">
              <Mark tone="warn" /> {one}
            </p>
          ))}
          {breaker && (
            <p class="line breaker">
              <span class="soft">Breaker</span> <code>{breaker.name}</code> <Status state={breaker.state} also={breaker.failureCount ? many(breaker.failureCount, "failure") : undefined} />
              {breaker.state !== "closed" && <button onClick={() => confirm(reset({ name: breaker.name, failures: breaker.failureCount }))}>Reset…</button>}
            </p>
          )}
        </>
      )}
    </article>
  );
}

const CHANNELS = ["setup", "resilience", "test", "build", "cleanup", "environments", "breaker"];

export function EnvironmentsView({ state, world }: { state: State; world: World }) {
  const [words, search] = useState("");
  const stamp = number(world.timeline.find((one) => CHANNELS.includes(one.channel))?.id ?? null);
  const guards = JSON.stringify(state.environments.map((one) => [one.state, one.guards]));
  const wanted = words.trim().toLowerCase();
  const found = state.environments.filter((one) => !wanted || `${one.project} ${one.folder} ${one.state}`.toLowerCase().includes(wanted));
  return (
    <>
      <h1>Environments</h1>
      {state.environments.length > 3 && (
        <div class="tools">
          <input type="search" placeholder="Search  /" aria-label="Search environments" value={words} onInput={(event) => search(event.currentTarget.value)} />
        </div>
      )}
      {state.environments.length === 0 && (
        <Empty>
          None is up. In a folder with an e2e.yaml, <code>argus env setup</code> brings one up; an agent does it with the tool argus_setup.
        </Empty>
      )}
      {found.slice(0, 10).map((run) => (
        <Environment key={run.runId} run={run} stamp={`${stamp}${guards}`} />
      ))}
      {found.length > 10 && <Empty>and {found.length - 10} more: search for one.</Empty>}
    </>
  );
}
