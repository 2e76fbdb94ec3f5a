import { useEffect, useLayoutEffect, useReducer, useRef, useState } from "preact/hooks";
import { Confirmation, Toast } from "./dialog";
import { keeper } from "./keeper";
import { KEYS, listen } from "./keys";
import type { State } from "./model";
import { Ago, Empty, Mark, useTick } from "./parts";
import { NOWHERE, VIEWS, entry, to, usePlace } from "./route";
import { entitle } from "./title";
import { alone, headline, needs } from "./verdict";
import { AgentsView } from "./views/agents";
import { EnvironmentsView } from "./views/environments";
import { IncidentsView } from "./views/incidents";
import { Overview } from "./views/overview";
import { ServersView } from "./views/servers";
import { ServicesView } from "./views/services";
import { SettingsView } from "./views/settings";
import { TimelineView } from "./views/timeline";
import { clock, duration } from "./words";
import type { Link, World } from "./world";

function Disconnected({ link }: { link: Link & { kind: "lost" } }) {
  useTick();
  return (
    <div class="cut" role="alert">
      <Mark tone="bad" />
      <p>
        <strong>Disconnected since {clock(link.since)}.</strong> {link.why}. What you see is how it was then. Trying again
        {link.again > Date.now() ? ` in ${duration((link.again - Date.now()) / 1000)}` : " now"}; if Argus is not up:{" "}
        <code>argus up --detach</code>
      </p>
      <button onClick={() => keeper.now()}>Try now</button>
    </div>
  );
}

/** A link was opened that works no more. Said once: the address does not keep it. */
const linkIsOver = new URLSearchParams(location.search).get("link") === "over";
if (linkIsOver) history.replaceState(null, "", location.pathname + location.hash);

const LoggedOut = () => (
  <main class="alone" id="main">
    <h1 id="verdict">Not logged in</h1>
    {linkIsOver && <p>That link was used or is too old.</p>}
    <p>In a terminal on this machine, run</p>
    <pre>
      <code>argus open</code>
    </pre>
    <p>and open the link it prints. It works once, and this browser stays logged in for 30 days. This page goes on by itself as soon as it may.</p>
  </main>
);

const Starting = ({ link }: { link: Link }) => (
  <main class="alone" id="main">
    <h1 id="verdict">{link.kind === "lost" ? "Argus does not answer" : "Looking…"}</h1>
    <p>{link.kind === "lost" ? "Start it with argus up --detach, or look into its log. This page tries again by itself." : "The state is on its way."}</p>
  </main>
);

const Nowhere = () => (
  <>
    <h1>There is no such page</h1>
    <Empty>
      The address leads nowhere. <a href={to("overview")}>The overview</a>
    </Empty>
  </>
);

function View({ world, view, name }: { world: World; view: string; name: string }) {
  const state = world.state!;
  switch (view) {
    case "services":
      return <ServicesView state={state} readings={world.readings} name={name} />;
    case "agents":
    case "sessions":
      return <AgentsView state={state} world={world} view={view} name={name} />;
    case "environments":
      return <EnvironmentsView state={state} world={world} />;
    case "servers":
      return <ServersView state={state} />;
    case "incidents":
      return <IncidentsView state={state} world={world} name={name} />;
    case "timeline":
      return <TimelineView world={world} />;
    case "settings":
      return <SettingsView state={state} link={world.link} />;
    case NOWHERE:
      return <Nowhere />;
    default:
      return <Overview state={state} world={world} />;
  }
}

/** Of one that does not answer nobody knows whether it is up still. */
const UpFor = ({ state, link }: { state: State; link: Link }) =>
  link.kind === "lost" ? (
    <>was up for {duration((link.since - Date.parse(state.argus.started)) / 1000)}</>
  ) : (
    <>
      up <Ago at={state.argus.started} bare />
    </>
  );

function Help({ close }: { close: () => void }) {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => box.current?.showModal(), []);
  return (
    <dialog ref={box} onClose={close} aria-labelledby="help-title">
      <h2 id="help-title">Keys</h2>
      <dl class="keys">
        {KEYS.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <div class="buttons">
        <button onClick={() => box.current?.close()}>Close</button>
      </div>
    </dialog>
  );
}

function Navigation({ world, view }: { world: World; view: string }) {
  const state = world.state;
  const counts: Record<string, number> = state
    ? {
        overview: needs(state).length,
        services: state.notWell.filter((one) => one.startsWith("service ")).length,
        agents: state.sessions.filter((one) => one.needs_you).length + state.stopRequests.length + state.agents.filter((one) => one.state === "dead").length,
        environments: state.environments.filter((one) => one.state === "failed" || one.state === "interrupted").length,
        servers: state.breakers.filter((one) => one.state !== "closed").length,
        incidents: alone(state.incidents).length,
      }
    : {};
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    // On a phone the entries stand in a line that is longer than the screen.
    const current = list.current?.querySelector<HTMLElement>("[aria-current]");
    const line = list.current?.parentElement;
    if (current && line) line.scrollLeft = current.offsetLeft - (line.clientWidth - current.offsetWidth) / 2;
  }, [view]);
  return (
    <nav aria-label="Views">
      <ul ref={list}>
        {VIEWS.map(([id, title], place) => (
          <li key={id}>
            <a href={to(id)} aria-current={entry(view) === id ? "page" : undefined} aria-keyshortcuts={String(place + 1)}>
              <span>{title}</span>
              {counts[id] ? (
                <span class="count">
                  {counts[id]}
                  <span class="hidden"> {id !== "overview" ? "not well" : counts[id] === 1 ? "needs you" : "need you"}</span>
                </span>
              ) : null}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

export function App() {
  const [, draw] = useReducer((n: number) => n + 1, 0);
  const [help, show] = useState(false);
  const been = useRef(false);
  const here = usePlace();
  // With what is drawn, not some time after it: whoever is quick has gone on to a row by then, and would lose it.
  useLayoutEffect(() => {
    entitle(keeper.world.state);
    // Who goes elsewhere by keyboard begins there, and hears it; at the beginning nobody has gone anywhere.
    if (been.current) document.getElementById("main")?.focus({ preventScroll: true });
    been.current = true;
  }, [here.view, here.name]);
  useEffect(() => keeper.watch(() => draw(0)), []);
  useEffect(() => listen(() => show(true)), []);
  const { world } = keeper;
  const { link, state } = world;
  if (link.kind === "out") return <LoggedOut />;
  if (!state) return <Starting link={link} />;
  const { words, tone } = headline(state, link);
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), document.getElementById("main")?.focus())}>
        To the content
      </a>
      <header class="top">
        <a class="brand" href={to("overview")}>
          <img src="/favicon.svg" alt="" width="22" height="22" />
          Argus
        </a>
        <p id="verdict" class={here.view === "overview" ? `hidden ${tone}` : tone} role="status">
          <Mark tone={tone} /> {words}
        </p>
        <p class="live">
          {link.kind === "live" ? (
            <>
              <Mark tone="ok" /> live
            </>
          ) : (
            <>
              <Mark tone="warn" /> {link.kind === "lost" ? "cut off" : "connecting"}
            </>
          )}
          <button class="quiet" onClick={() => show(true)} aria-label="Keys">
            ?
          </button>
        </p>
      </header>
      {link.kind === "lost" && <Disconnected link={link} />}
      {state.argus.store !== "ok" && (
        <div class="cut" role="alert">
          <Mark tone="bad" />
          <p>
            <strong>The record cannot be written</strong>, so nothing is acted on: {state.argus.store}
          </p>
        </div>
      )}
      <div class="frame">
        <Navigation world={world} view={here.view} />
        <main id="main" tabIndex={-1}>
          <View world={world} view={here.view} name={here.name} />
        </main>
      </div>
      <footer class="soft small">
        Argus {state.argus.version} · <UpFor state={state} link={link} /> · <a href="/docs">REST</a>
      </footer>
      <Confirmation link={link} />
      <Toast />
      {help && <Help close={() => show(false)} />}
    </>
  );
}
