// Is anything wrong now, what did Argus do about it, what needs you: in this order.
import { answer, forget, leave, respawn, restart } from "../actions";
import { confirm } from "../dialog";
import type { Incident, Service, Session, State } from "../model";
import { Ago, Empty, Mark, Status, useFetched } from "../parts";
import { to } from "../route";
import { type Consequence, FAILING, type Need, type Wrong, consequences, givenUp, headline, isIdle, isProposed, keyOf, leftAlone, needs, standing, toneOfService, unseen, unwell, wrong } from "../verdict";
import { clock, duration, isAct, many, percent, plain, sentence, subject, toneOfEvent } from "../words";
import type { Link, World } from "../world";
import { type History, ServiceBars, historyOf } from "./history";

const SHOWN = 12;

const clipped = (words: string, most = 220): string => (words.length > most ? `${words.slice(0, most)}…` : words);

function ServiceTrouble({ one }: { one: Service }) {
  const why = one.repairing ? "restarting" : one.gate ? `held back: ${one.gate}` : one.failures ? `${many(one.failures, "failure")} in a row` : "";
  return (
    <a class="card row" data-row href={to("services", one.name)}>
      <Status state={standing(one)} tone={toneOfService(one)} also={one.flapping ? "flapping" : undefined} />
      <strong>{one.name}</strong>
      <span class="what">{clipped(one.detail)}</span>
      <span class="soft side">
        {why}
        {/* Since when it fails nobody says before it is confirmed; since when it was up is not asked. */}
        {standing(one) !== FAILING && (
          <>
            {why && " · "}
            <Ago at={one.since} bare />
          </>
        )}
      </span>
    </a>
  );
}

const MOST_UNDER = 20;

/** A root, and under it what stands still because of it. */
function Root({ one, under }: { one: Wrong; under: Consequence[] }) {
  if (!under.length) return <Trouble one={one} />;
  return (
    <div>
      <Trouble one={one} />
      <p class="because soft">
        because of it:{" "}
        {under.slice(0, MOST_UNDER).map((other, place) => (
          <>
            {place > 0 && ", "}
            <a href={other.link}>{other.name}</a> {other.words}
          </>
        ))}
        {under.length > MOST_UNDER && ` and ${under.length - MOST_UNDER} more`}
      </p>
    </div>
  );
}

const rootOf = (one: Wrong): string => (one.kind === "service" ? `service ${one.one.name}` : one.kind === "other" ? (one.root ?? "") : "");

function Trouble({ one }: { one: Wrong }) {
  if (one.kind === "service") return <ServiceTrouble one={one.one} />;
  if (one.kind === "agent")
    return (
      <a class="card row" data-row href={to("agents", one.one.agent_id)}>
        <Status state={one.one.state} />
        <strong>{one.one.agent_id}</strong>
        <span class="what">{clipped(one.one.reason || one.one.current_task)}</span>
        <span class="soft side">
          {one.one.gate ? `held back: ${one.one.gate} · ` : ""}
          <Ago at={one.one.since} bare />
        </span>
      </a>
    );
  return (
    <a class="card row" data-row href={one.link}>
      <span class={`status ${one.tone}`}>
        <Mark tone={one.tone} /> not well
      </span>
      <strong>{one.title}</strong>
      <span class="what">{clipped(one.detail)}</span>
    </a>
  );
}

/** What a session asks leave for, with its two answers; where Argus cannot answer, where a person can. */
export function Asked({ one }: { one: Session }) {
  const { prompt } = one;
  const terminal = (
    <p class="soft small">{one.session_type === "cli" ? <>Answer it in its own terminal: <code>tmux attach -t {one.session_id}</code></> : "Answer it where it runs."}</p>
  );
  if (!prompt) return terminal;
  return (
    <>
      <pre class="log" tabIndex={0}>
        {prompt.text}
      </pre>
      {!prompt.can_allow && terminal}
      <div class="buttons">
        {prompt.can_deny && <button onClick={() => confirm(leave(one, prompt, false))}>Deny…</button>}
        {prompt.can_allow && (
          <button class="danger" onClick={() => confirm(leave(one, prompt, true))}>
            Allow once…
          </button>
        )}
      </div>
    </>
  );
}

const eventOf = (state: State): Incident | undefined => state.incidents.find((one) => one.id === state.infrastructureEvent);

const Since = ({ incident }: { incident: Incident | undefined }) =>
  incident ? (
    <>
      · <Ago at={incident.opened} />
    </>
  ) : null;

export function NeedCard({ need, state }: { need: Need; state: State }) {
  switch (need.kind) {
    case "event":
      return (
        <article class="card need">
          <p>
            <Mark tone="bad" /> <a href={to("incidents", need.incident)}>Infrastructure event</a> <Since incident={eventOf(state)} />
          </p>
          <p class="said">Argus restarts nothing until it has ended. Look at what they share, or start them by hand.</p>
          <div class="buttons">
            <a class="button" href={to("incidents", need.incident)}>
              Evidence
            </a>
          </div>
        </article>
      );
    case "stop": {
      const { one } = need;
      return (
        <article class="card need">
          <p>
            <Mark tone="warn" /> <a href={to("agents", one.agent_id)}>{one.agent_id}</a> asks to end · <Ago at={one.created} />
          </p>
          {one.reason && <p class="said">{clipped(one.reason, 600)}</p>}
          {one.work_completed && <p class="said soft">Done: {clipped(one.work_completed, 600)}</p>}
          {one.context && <p class="said soft">{clipped(one.context, 600)}</p>}
          <div class="buttons">
            <button onClick={() => confirm(answer(one, false))}>Deny…</button>
            <button class="primary" onClick={() => confirm(answer(one, true))}>
              Approve…
            </button>
          </div>
        </article>
      );
    }
    case "session": {
      const { one } = need;
      return (
        <article class="card need">
          <p>
            <Status state={one.state} /> <a href={to("sessions", one.project)}>{one.project}</a> · <Ago at={one.since} />
          </p>
          <p class="said">{clipped(one.question || one.because, 600)}</p>
          {one.tool && <p class="soft">Tool: {clipped(one.tool, 100)}</p>}
          <Asked one={one} />
        </article>
      );
    }
    case "agent": {
      const { one } = need;
      return (
        <article class="card need">
          <p>
            <Status state={one.state} /> <a href={to("agents", one.agent_id)}>{one.agent_id}</a> · <Ago at={one.since} />
          </p>
          <p class="said">{clipped([one.reason, one.gate && `held back: ${one.gate}`].filter(Boolean).join(" · "), 600)}</p>
          {one.state === "dead" && (
            <div class="buttons">
              <button onClick={() => confirm(forget(one))}>Forget…</button>
              {one.config_name && (
                <button class="primary" onClick={() => confirm(respawn(one))}>
                  Respawn…
                </button>
              )}
            </div>
          )}
        </article>
      );
    }
    case "environment": {
      const { one } = need;
      const given = givenUp(one).map(([name, guard]) => `${name} ${guard}`);
      const left = one.state === "up" ? leftAlone(one) : [];
      return (
        <article class="card need">
          <p>
            <Mark tone="bad" /> <a href={to("environments")}>{one.name}</a> · environment
            {/* Since when a container is so nobody says; since when its environment is up is not asked. */}
            {!given.length && !left.length && (
              <>
                {" · "}
                <Ago at={one.since} />
              </>
            )}
          </p>
          <p class="said">
            {!given.length && left.length
              ? `${clipped(left.join(", "), 600)}: left alone because somebody stopped or removed it, and others wait for it. Start it again, or set the environment up anew.`
              : `${clipped(given.join(", ") || "Argus ended in the middle, and what was begun is left", 600)}: Argus does no more about it. Set it up again, or clean it away.`}
          </p>
        </article>
      );
    }
    case "service": {
      const { one } = need;
      const proposed = isProposed(state, one);
      return (
        <article class="card need">
          <p>
            <Status state={one.state} /> <a href={to("services", one.name)}>{one.name}</a> · <Ago at={one.since} />
          </p>
          <p class="said">
            {clipped(one.detail, 300)} ·{" "}
            {proposed ? `Argus proposes: restart ${one.name}` : one.gate ? `Argus holds back: ${one.gate}` : "Argus has no way to restart it"}
          </p>
          <div class="buttons">
            {one.incident && (
              <a class="button" href={to("incidents", one.incident)}>
                Evidence
              </a>
            )}
            {one.restartable && (
              <button class="primary" onClick={() => confirm(restart(one))}>
                {proposed ? "Approve the restart…" : "Restart…"}
              </button>
            )}
          </div>
        </article>
      );
    }
  }
}

/** A few services as small multiples: those that are not well first. */
function Glance({ state }: { state: State }) {
  const isUnwell = unwell(state);
  const rank = (one: Service) => (isUnwell(`service ${one.name}`) ? 0 : standing(one) === "up" ? 2 : 1);
  const order = [...state.services].sort((a, b) => rank(a) - rank(b) || (a.uptime["24h"] ?? 1) - (b.uptime["24h"] ?? 1));
  const shown = order.slice(0, SHOWN);
  const names = shown.map((one) => one.name).join(",");
  const { value } = useFetched<History>(names ? `/api/history?services=${encodeURIComponent(names)}` : null, Math.floor(Date.now() / 60_000));
  return (
    <ul class="glance">
      {shown.map((one) => (
        <li key={one.name}>
          <a href={to("services", one.name)} title={one.name}>
            <Mark tone={toneOfService(one)} />
            <span class="name">{one.name}</span>
            <span class="soft figure">{percent(one.uptime["24h"])}</span>
            <ServiceBars history={historyOf(value, one.name)} />
            <span class="hidden">{standing(one)}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}

/** Why nothing stands under the first question. */
function Quiet({ state, link }: { state: State; link: Link }) {
  if (isIdle(state)) return <Empty>{state.argus.config ? <NothingNamed file={state.argus.config} /> : <NoFile />}</Empty>;
  if (link.kind === "lost") return <Empty>Nothing was, when Argus was last heard.</Empty>;
  return <Empty>{unseen(state) ? "Nothing that was seen. Not everything that is watched has answered yet." : "Nothing. Everything that is watched answers as it should."}</Empty>;
}

const NoFile = () => (
  <>
    There is no argus.yaml, and nothing that listens here was found. <code>argus init</code> writes a first file; what listens is looked for at the start and by <code>argus reload</code>.
  </>
);

const NothingNamed = ({ file }: { file: string }) => (
  <>
    {file} names no service, and no agent, session or environment is known. Name what is to be watched there, and <code>argus reload</code> takes it up.
  </>
);

/** What Argus does about an infrastructure event, as long as it goes on. */
const Held = ({ incident, opened }: { incident: string; opened: string | undefined }) => (
  <li>
    <time class="soft figure">{opened && clock(opened)}</time>
    <Mark tone="bad" />
    <span>
      <strong>infrastructure event</strong> nothing is restarted until it has ended <a href={to("incidents", incident)}>evidence</a>
    </span>
  </li>
);

export function Overview({ state, world }: { state: State; world: World }) {
  const { words, tone } = headline(state, world.link);
  const troubles = wrong(state);
  const under = consequences(state);
  const waiting = needs(state);
  const event = state.infrastructureEvent;
  // It is said of an event that goes on that nothing is done, however many events there were since it began.
  const acts = world.timeline.filter((one) => isAct(one) && !(one.type === "infrastructure_event" && one.data.incident === event)).slice(0, SHOWN);
  const up = state.services.filter((one) => standing(one) === "up").length;
  return (
    <>
      <h1 class={`big ${tone}`}>
        <Mark tone={tone} /> {words}
      </h1>
      <p class="soft figures">
        <span>{state.services.length ? `${up} of ${many(state.services.length, "service")} up` : "0 services"}</span>
        <span>{many(state.agents.length, "agent")}</span>
        <span>{many(state.sessions.length, "session")}</span>
        {state.environments.length > 0 && <span>{many(state.environments.length, "environment")}</span>}
        <span>
          autonomy <a href={to("settings")}>{state.autonomy}</a>
        </span>
        <span>
          {state.budget.left} of {state.budget.most} restarts left this hour
        </span>
      </p>
      <section aria-labelledby="wrong">
        <h2 id="wrong">Is anything wrong now?</h2>
        {troubles.length === 0 && <Quiet state={state} link={world.link} />}
        <div class="stack">
          {troubles.slice(0, SHOWN).map((one) => (
            <Root key={one.kind === "service" ? one.one.name : one.kind === "agent" ? one.one.agent_id : one.key} one={one} under={under.get(rootOf(one)) ?? []} />
          ))}
        </div>
        {troubles.length > SHOWN && (
          <p>
            <a href={to("services")}>and {troubles.length - SHOWN} more</a>
          </p>
        )}
      </section>
      <section aria-labelledby="did">
        <h2 id="did">What did Argus do about it?</h2>
        {acts.length === 0 && !event && <Empty>{troubles.length ? "Nothing that the newest events tell of." : "Nothing lately: it had no reason to."}</Empty>}
        <ol class="acts">
          {event && <Held incident={event} opened={eventOf(state)?.opened} />}
          {acts.map((one) => (
            <li key={one.id}>
              <time class="soft figure">{clock(one.at)}</time>
              <Mark tone={toneOfEvent(one)} />
              <span>
                <strong>{subject(one)}</strong> {clipped(sentence(one))}
                {typeof one.data.incident === "string" && one.data.incident && (
                  <>
                    {" "}
                    <a href={to("incidents", one.data.incident)}>evidence</a>
                  </>
                )}
              </span>
            </li>
          ))}
        </ol>
      </section>
      <section aria-labelledby="needs">
        <h2 id="needs">What needs you?</h2>
        {waiting.length === 0 && <Empty>Nothing waits for a person.</Empty>}
        <div class="grid">
          {waiting.slice(0, SHOWN).map((need) => (
            <NeedCard key={keyOf(need)} need={need} state={state} />
          ))}
        </div>
        {waiting.length > SHOWN && (
          <p>
            and {waiting.length - SHOWN} more: <a href={to("agents")}>agents and sessions</a>, <a href={to("services")}>services</a>
          </p>
        )}
      </section>
      {state.services.length > 0 && (
        <section aria-labelledby="day">
          <h2 id="day">
            The last 24 hours <span class="soft">{state.services.length > SHOWN ? `the ${SHOWN} least well` : ""}</span>
          </h2>
          <Glance state={state} />
        </section>
      )}
      {state.argus.discovered && !isIdle(state) && (
        <Empty>
          There is no argus.yaml: what listens on this machine is watched, and nothing is restarted. <code>argus init</code> writes one.
        </Empty>
      )}
    </>
  );
}

export { clipped, duration, plain };
