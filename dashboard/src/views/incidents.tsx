import { useEffect, useState } from "preact/hooks";
import { type Problem, asProblem, get, part } from "../api";
import { type Incident, type State, type Told, text } from "../model";
import { Ago, Empty, Evidence, Facts, Mark, Trouble, useFetched } from "../parts";
import { to } from "../route";
import { alone } from "../verdict";
import { now } from "../time";
import { byOurClock, clock, duration, moment, plain, toneOfEvent } from "../words";
import { type World, number } from "../world";
import { clipped } from "./overview";

interface Page {
  incidents: Incident[];
  next: string | null;
}

const lasted = (one: Incident): string => duration(((one.closed ? Date.parse(one.closed) : now()) - Date.parse(one.opened)) / 1000);

/** The incident of which this one is a part; empty when it stands for itself. */
const rootOf = (one: Incident): string => (typeof one.data.explainedBy === "string" ? one.data.explainedBy : "");

/** What the page and the story above it say in words. */
const SAID = ["explainedBy", "explainedBefore", "ended", "restarts", "gate", "waitsSince", "failingSince"];

/** Of what is kept with an incident that which is evidence; its flags are how Argus remembers what it did. */
const keptOf = (one: Incident): Record<string, unknown> =>
  Object.fromEntries(Object.entries(one.data).filter(([key, value]) => !SAID.includes(key) && typeof value !== "boolean" && value !== null && value !== ""));

const titleOf = (one: Incident | undefined): string => (one ? one.subject || plain(one.kind) : "another incident");

const Open = ({ one }: { one: Incident }) => (
  <span class={`status ${one.closed ? "ok" : "bad"}`}>
    <Mark tone={one.closed ? "ok" : "bad"} /> {one.closed ? "over" : "open"}
  </span>
);

function List({ state, stamp }: { state: State; stamp: unknown }) {
  const first = useFetched<Page>("/api/incidents?limit=50", stamp);
  const [older, add] = useState<Page | null>(null);
  const [problem, fail] = useState<Problem | null>(null);
  const [words, search] = useState("");
  useEffect(() => add(null), [first.value?.incidents[0]?.id]);
  const next = older ? older.next : first.value?.next;
  const more = () =>
    get<Page>(`/api/incidents?limit=50&before=${part(next ?? "")}`).then(
      (page) => add({ incidents: [...(older?.incidents ?? []), ...page.incidents].slice(0, 1000), next: page.next }),
      (error) => fail(asProblem(error)),
    );
  const wanted = words.trim().toLowerCase();
  const read = [...(first.value?.incidents ?? []), ...(older?.incidents ?? [])];
  // What goes on by itself stands first: hundreds may be newer that are only a part of it.
  const all = first.value ? [...new Map([...alone(state.incidents), ...read].map((one) => [one.id, one])).values()] : [];
  const known = new Map([...state.incidents, ...all].map((one) => [one.id, one]));
  const found = all.filter((one) => !wanted || `${one.subject} ${one.kind} ${one.cause}`.toLowerCase().includes(wanted));
  return (
    <>
      <h1>Incidents</h1>
      <div class="tools">
        <input type="search" placeholder="Search  /" aria-label="Search incidents" value={words} onInput={(event) => search(event.currentTarget.value)} />
      </div>
      {first.problem && <Trouble problem={first.problem} again={first.again} />}
      {!first.value && !first.problem && <Empty>Reading the record…</Empty>}
      {first.value && all.length === 0 && <Empty>None on record. An outage that is confirmed becomes one, with everything that was seen and done.</Empty>}
      <ul class="plain">
        {found.map((one) => (
          <li key={one.id}>
            <a class="card row" data-row href={to("incidents", one.id)}>
              <Open one={one} />
              <strong>{titleOf(one)}</strong>
              <span class="what">
                {clipped(one.cause || plain(one.kind))}
                {rootOf(one) && <span class="soft"> · because of {titleOf(known.get(rootOf(one)))}</span>}
              </span>
              <span class="soft side">
                {clock(one.opened)} · {lasted(one)}
              </span>
            </a>
          </li>
        ))}
      </ul>
      {problem && <Trouble problem={problem} />}
      {next && <button onClick={more}>Older ones</button>}
    </>
  );
}

interface Entry {
  part: string;
  timestamp: number;
  text: string;
  evidence: string[];
  event: string;
}

interface Story {
  incident: Incident;
  explains: { kind: string; name: string; incident: string | null; what: string }[];
  story: Entry[];
  events: (Omit<Told, "at"> & { subject: string; timestamp: number })[];
}

const PARTS: Record<string, string> = { observation: "Seen", decision: "Decided", act: "Done", outcome: "Outcome", notification: "Told", explained: "Waits" };

/** What a line is called. Who stood still and does so no longer is a part of the story as those who wait. */
function labelOf(entry: Entry, told: Told | undefined): string {
  if (told?.type === "dependency_back" && !(told.data.still_waits_for as unknown[] | undefined)?.length) return "Goes on";
  if (told?.type === "spawn_wait_ended") return told.data.outcome === "started" ? "Goes on" : "Outcome";
  if (told?.type === "dependency_wait_ended" || told?.type === "explained_otherwise") return "Outcome";
  return PARTS[entry.part] ?? plain(entry.part);
}

/** A line of the story. What its event holds besides is under its first line. */
function Line({ entry, event }: { entry: Entry; event: Story["events"][number] | undefined }) {
  const told: Told | undefined = event && { ...event, at: event.timestamp, data: { subject: event.subject, ...event.data } };
  const line = (
    <>
      <strong>{labelOf(entry, told)}</strong> {clipped(entry.text, 500)}
    </>
  );
  return (
    <li data-part={entry.part}>
      <time class="soft figure">{clock(entry.timestamp)}</time>
      <Mark tone={told && entry.part !== "decision" ? toneOfEvent(told) : "none"} />
      <div>
        {told ? (
          <details>
            <summary>{line}</summary>
            <Evidence data={told.data} />
          </details>
        ) : (
          line
        )}
        {entry.evidence.length > 0 && <pre class="lines">{entry.evidence.map(byOurClock).join("\n")}</pre>}
      </div>
    </li>
  );
}

function Detail({ id, stamp }: { id: string; stamp: unknown }) {
  const { value, problem, again } = useFetched<Story>(`/api/incidents/${part(id)}`, stamp);
  const one = value?.incident;
  const events = new Map(value?.events.map((event) => [event.id, event]));
  const root = one ? rootOf(one) : "";
  const kept = one ? keptOf(one) : {};
  return (
    <>
      <p class="back">
        <a href={to("incidents")}>← Incidents</a>
      </p>
      {problem && <Trouble problem={problem} again={again} />}
      {!value && !problem && <Empty>Reading the record…</Empty>}
      {one && (
        <>
          <div class="title">
            <h1>{titleOf(one)}</h1>
            <Open one={one} />
          </div>
          {one.cause && <p class="said">{one.cause}</p>}
          <Facts
            facts={[
              ["Kind", plain(one.kind)],
              ["Opened", moment(one.opened)],
              ["Closed", one.closed && moment(one.closed)],
              [one.closed ? "Lasted" : "Lasts for", lasted(one)],
              ["Restarts", Number(one.data.restarts) || null],
              ["Held back", !one.closed && text(one.data.gate)],
              ["Ended", text(one.data.ended)],
              ["Because of", root && <a href={to("incidents", root)}>another incident</a>],
              ["Before that of", text(one.data.explainedBefore) && <a href={to("incidents", text(one.data.explainedBefore))}>another one</a>],
              ["Id", <code>{one.id}</code>],
              ["In a terminal", <code>argus explain {one.id}</code>],
            ]}
          />
          <h2>What was seen, decided, done and told</h2>
          {value.events.length === 0 && <Empty>Its events were pruned from the record.</Empty>}
          <ol class="story">
            {value.story.map((entry, n) => (
              <Line key={`${entry.event}${n}`} entry={entry} event={value.story[n - 1]?.event === entry.event ? undefined : events.get(entry.event)} />
            ))}
          </ol>
          {value.explains.length > 0 && (
            <section aria-labelledby="because">
              <h2 id="because">Because of it</h2>
              <ul class="plain">
                {value.explains.slice(0, 200).map((other) => (
                  <li key={`${other.kind} ${other.name}`}>
                    {other.kind} {other.incident ? <a href={to("incidents", other.incident)}>{other.name}</a> : <strong>{other.name}</strong>}: {other.what}
                  </li>
                ))}
              </ul>
            </section>
          )}
          {Object.keys(kept).length > 0 && (
            <section aria-labelledby="kept">
              <h2 id="kept">Kept with it</h2>
              <Evidence data={kept} />
            </section>
          )}
          {!one.closed && (
            <p class="soft">
              Still open, for <Ago at={one.opened} bare />. This page goes on with it.
            </p>
          )}
        </>
      )}
    </>
  );
}

export function IncidentsView({ world, name, state }: { state: State; world: World; name: string }) {
  const stamp = number(world.timeline[0]?.id ?? null);
  if (name) return <Detail key={name} id={name} stamp={number(world.timeline.find((one) => one.data.incident === name)?.id ?? null)} />;
  return <List state={state} stamp={JSON.stringify(state.incidents.map((one) => [one.id, one.closed])) || stamp} />;
}
