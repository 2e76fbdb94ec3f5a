import { reset } from "../actions";
import { post } from "../api";
import { confirm } from "../dialog";
import type { Breaker, State } from "../model";
import { Empty, Mark, Status, Trouble, useFetched } from "../parts";
import { clock, duration, many } from "../words";
import { clipped } from "./overview";

interface Server {
  name: string;
  kind: string;
  source: string;
  available: boolean;
  problem: string | null;
  breaker: string;
  failures: number;
  retryInSeconds: number | null;
}

const BreakerCard = ({ one }: { one: Breaker }) => (
  <article class="card">
    <p class="line">
      <strong>{one.name}</strong> <Status state={one.state} also={one.failures ? `${many(one.failures, "failure")} in a row` : undefined} />
      {one.retryInSeconds !== null && <span class="soft">asked again in {duration(one.retryInSeconds)}</span>}
      <span class="side buttons">
        <button disabled={one.state === "closed"} onClick={() => confirm(reset(one))}>
          Reset…
        </button>
      </span>
    </p>
    {one.history.length > 0 && (
      <ul class="plain small">
        {[...one.history]
          .reverse()
          .slice(0, 5)
          .map((failure, place) => (
            <li key={place}>
              <span class="figure soft">{clock(failure.at)}</span> <code>{failure.code}</code> {clipped(failure.message)}
            </li>
          ))}
      </ul>
    )}
  </article>
);

export function ServersView({ state }: { state: State }) {
  const stamp = JSON.stringify(state.breakers.map((one) => [one.name, one.state, one.failures]));
  const { value, problem, again } = useFetched<{ servers: Server[]; notices: string[] }>("/api/bridge/servers", stamp, (path) => post(path));
  const breakers = [...state.breakers].sort((a, b) => Number(a.state === "closed") - Number(b.state === "closed") || a.name.localeCompare(b.name));
  return (
    <>
      <h1>MCP servers and breakers</h1>
      <section aria-labelledby="servers">
        <h2 id="servers">MCP servers</h2>
        {problem && <Trouble problem={problem} again={again} />}
        {!value && !problem && <Empty>Reading…</Empty>}
        {value?.servers.length === 0 && (
          <Empty>
            None is known where Argus runs. Name one under <code>bridge.servers</code> in argus.yaml, or in a .mcp.json of a project.
          </Empty>
        )}
        <ul class="plain">
          {value?.servers.map((one) => (
            <li key={one.name} class="part">
              <div class="line">
                <Status state={one.available ? "available" : "unavailable"} also={one.failures ? many(one.failures, "failure") : undefined} />
                <strong>{one.name}</strong>
                <span class="soft">
                  {one.kind} · {one.source}
                </span>
              </div>
              {one.problem && <p class="soft small">{one.problem}</p>}
            </li>
          ))}
        </ul>
        {value?.notices.map((one) => (
          <p key={one} class="soft">
            <Mark tone="warn" /> {one}
          </p>
        ))}
      </section>
      <section aria-labelledby="breakers">
        <h2 id="breakers">Circuit breakers</h2>
        {breakers.length === 0 && <Empty>None yet: nothing that has one was asked so far.</Empty>}
        <div class="stack">
          {breakers.map((one) => (
            <BreakerCard key={one.name} one={one} />
          ))}
        </div>
        {breakers.length > 0 && (
          <p class="soft small">
            Behind an open breaker every call fails at once, so that nobody waits for what is known to be broken.
          </p>
        )}
      </section>
    </>
  );
}
