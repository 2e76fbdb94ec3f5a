import { useEffect, useState } from "preact/hooks";
import { check, pause, restart, resume } from "../actions";
import { get } from "../api";
import { Chart } from "../charts";
import { confirm } from "../dialog";
import { keeper } from "../keeper";
import type { Service, State } from "../model";
import { Ago, Bars, Empty, Facts, Rows, Status, Trouble, useFetched, useNarrow } from "../parts";
import { to } from "../route";
import { FAILING, standing, toneOfService, unwell } from "../verdict";
import { clock, dayOf, duration, many, ms, percent } from "../words";
import type { Reading } from "../world";
import { type History, ServiceBars, type ServiceHistory, historyOf } from "./history";

const STATES = ["down", "unknown", FAILING, "degraded", "pending", "up"];
const KEPT = 400;
const FRESH = 60_000;

/** What was read of services that were on the screen, for a minute. */
const bars = new Map<string, { at: number; history: ServiceHistory }>();

function useBars(names: string[]): (name: string) => ServiceHistory | null {
  const [, draw] = useState(0);
  const wanted = names.filter((name) => Date.now() - (bars.get(name)?.at ?? 0) > FRESH).slice(0, 50);
  const key = wanted.join(",");
  useEffect(() => {
    if (!key) return;
    const timer = setTimeout(() => {
      get<History>(`/api/history?services=${encodeURIComponent(key)}`).then(
        ({ services }) => {
          for (const history of services) bars.set(history.name, { at: Date.now(), history });
          while (bars.size > KEPT) bars.delete(bars.keys().next().value as string);
          draw((n) => n + 1);
        },
        () => {}, // rows are whole without their bars; the next look asks again
      );
    }, 80); // not for what only scrolls by
    return () => clearTimeout(timer);
  }, [key]);
  return (name) => bars.get(name)?.history ?? null;
}

/** What a service does besides; of several the one that explains the others. A restart is one until it is verified. */
const besides = (one: Service): string | undefined => (one.pausedUntil ? "paused" : one.repairing ? "restarting" : one.flapping ? "flapping" : undefined);

const rank = (one: Service): number => (one.pausedUntil ? 0.5 : 0) + STATES.indexOf(standing(one));

function List({ state }: { state: State }) {
  const [words, search] = useState("");
  const [only, choose] = useState<string | null>(null);
  const [seen, see] = useState<string[]>([]);
  const narrow = useNarrow();
  const history = useBars(seen);
  const counts = new Map<string, number>();
  for (const one of state.services) counts.set(standing(one), (counts.get(standing(one)) ?? 0) + 1);
  const wanted = words.trim().toLowerCase();
  const isUnwell = unwell(state);
  const isWell = (one: Service) => Number(!isUnwell(`service ${one.name}`));
  const found = state.services
    .filter((one) => (!only || standing(one) === only) && (!wanted || `${one.name} ${one.type} ${one.place} ${one.detail}`.toLowerCase().includes(wanted)))
    .sort((a, b) => isWell(a) - isWell(b) || rank(a) - rank(b) || a.name.localeCompare(b.name));
  return (
    <>
      <h1>Services</h1>
      <div class="tools">
        <input type="search" placeholder="Search  /" aria-label="Search services" value={words} onInput={(event) => search(event.currentTarget.value)} />
        <div class="chips" role="group" aria-label="Only of one state">
          {STATES.filter((one) => counts.has(one)).map((one) => (
            <button key={one} class="chip" aria-pressed={only === one} onClick={() => choose(only === one ? null : one)}>
              <Status state={one} /> {counts.get(one)}
            </button>
          ))}
        </div>
      </div>
      {state.services.length === 0 && (
        <Empty>
          Nothing is watched. <code>argus init</code> looks around and writes an argus.yaml; <code>argus reload</code> takes it up.
        </Empty>
      )}
      {state.services.length > 0 && found.length === 0 && <Empty>None of {many(state.services.length, "service")} is like that.</Empty>}
      {found.length > 0 && (
        <div class="service head soft small" aria-hidden="true">
          <span>State</span>
          <span>Service</span>
          <span>Latency</span>
          <span>24 hours</span>
          <span>30 d</span>
          <span>Seen</span>
        </div>
      )}
      <Rows
        items={found}
        height={narrow ? 74 : 46}
        name={(one) => one.name}
        label="Services"
        seen={(items) => see(items.map((one) => one.name))}
        draw={(one) => (
          <a class="service" data-row href={to("services", one.name)}>
            <Status state={standing(one)} tone={toneOfService(one)} also={besides(one)} />
            <span class="name">
              <strong>{one.name}</strong> <span class="soft">{standing(one) === "up" ? one.place : one.detail}</span>
            </span>
            <span class="figure latency">{ms(one.latencyMs)}</span>
            <ServiceBars history={history(one.name)} />
            <span class="figure month">{percent(one.uptime["30d"])}</span>
            <span class="figure soft age">
              <Ago at={one.lastCheck} bare />
            </span>
          </a>
        )}
      />
    </>
  );
}

function merged(history: ServiceHistory, live: Reading[]): Reading[] {
  const before = history.checks.map((one) => ({ at: new Date(one.at).getTime(), state: one.state, latencyMs: one.latencyMs }));
  const newest = before.at(-1)?.at ?? 0;
  return [...before, ...live.filter((one) => one.at > newest + 500)];
}

function Latency({ history, live }: { history: ServiceHistory; live: Reading[] }) {
  const [day, choose] = useState(false);
  const checks = merged(history, live);
  const hours = history.hours;
  const times = day ? hours.map((one) => new Date(one.start).getTime()) : checks.map((one) => one.at);
  const lines = day
    ? [
        { label: "average", colour: "--line-1", values: hours.map((one) => one.latencyMs), filled: true, points: hours.length < 3 },
        { label: "slowest", colour: "--line-2", values: hours.map((one) => one.slowestMs), points: hours.length < 3 },
      ]
    : [{ label: "each check", colour: "--line-1", values: checks.map((one) => one.latencyMs), filled: true, points: checks.length < 80 }];
  const timed = (day ? hours.map((one) => one.latencyMs) : checks.map((one) => one.latencyMs)).filter((one) => one !== null);
  const least = Math.min(...timed);
  return (
    <section aria-labelledby="latency">
      <h2 id="latency">
        Latency
        <span class="switch" role="group" aria-label="Over which time">
          <button aria-pressed={!day} onClick={() => choose(false)}>
            last checks
          </button>
          <button aria-pressed={day} onClick={() => choose(true)}>
            24 hours
          </button>
        </span>
      </h2>
      {timed.length === 0 ? (
        <Empty>No check of it took a measurable time yet.</Empty>
      ) : (
        <Chart
          label={`Latency: from ${ms(least)} to ${ms(Math.max(...timed))}, the last ${ms(timed.at(-1) ?? null)}`}
          times={times}
          lines={lines}
          unit={(value) => ms(value)}
        />
      )}
    </section>
  );
}

function Detail({ one, live, state }: { one: Service; live: Reading[] | undefined; state: State }) {
  useEffect(() => keeper.apply({ kind: "follow", service: one.name }), [one.name]);
  const { value, problem, again } = useFetched<History>(`/api/history?services=${encodeURIComponent(one.name)}`, `${one.state}${Math.floor(Date.now() / 60_000)}`);
  const history = historyOf(value, one.name);
  const checks = history ? merged(history, live ?? []).slice(-12).reverse() : [];
  const incidents = state.incidents.filter((incident) => incident.subject === one.name && incident.kind.startsWith("service_"));
  return (
    <>
      <p class="back">
        <a href={to("services")}>← Services</a>
      </p>
      <div class="title">
        <h1>{one.name}</h1>
        <Status state={standing(one)} tone={toneOfService(one)} also={besides(one)} />
        <div class="buttons">
          <button onClick={() => confirm(check(one))}>Check…</button>
          {one.pausedUntil ? <button onClick={() => confirm(resume(one))}>Resume…</button> : <button onClick={() => confirm(pause(one))}>Pause…</button>}
          <button
            class="danger"
            disabled={!one.restartable}
            title={one.restartable ? undefined : "argus.yaml says no way to restart it"}
            onClick={() => confirm(restart(one))}
          >
            Restart…
          </button>
        </div>
      </div>
      <p class="said">{one.detail}</p>
      <Facts
        facts={[
          ["In this state", standing(one) !== FAILING && <Ago at={one.since} bare />],
          ["Place", `${one.type} · ${one.place}`],
          ["Latency", ms(one.latencyMs)],
          ["Checked", <><Ago at={one.lastCheck} />, every {duration(one.interval)}</>],
          ["Uptime of 7 days", percent(one.uptime["7d"])],
          ["Failures in a row", one.failures ? `${one.countedAnew ? "at least " : ""}${one.failures}` : null],
          ["Held back", one.waitsFor ? `${one.gate}: ${one.waitsFor}` : one.gate],
          ["Error", one.code],
          ["Paused until", one.pausedUntil && clock(one.pausedUntil)],
          ["Depends on", one.dependsOn.length ? one.dependsOn.map((name, place) => <>{place ? ", " : ""}<a href={to("services", name)}>{name}</a></>) : null],
          ["Certificate ends", one.tlsExpires && dayOf(one.tlsExpires)],
          ["Incident", one.incident && <a href={to("incidents", one.incident)}>open: its evidence</a>],
          ["Restarts in this outage", one.restarts || null],
        ]}
      />
      {problem && <Trouble problem={problem} again={again} />}
      {!history && !problem && <Empty>Reading its history…</Empty>}
      {history && (
        <>
          <Latency history={history} live={live ?? []} />
          <section aria-labelledby="uptime">
            <h2 id="uptime">Uptime</h2>
            <div class="uptime">
              <span class="soft">24 hours</span>
              <ServiceBars history={history} />
              <span class="figure">{percent(one.uptime["24h"])}</span>
              <span class="soft">30 days</span>
              <Bars bars={history.days} span={86400} count={30} label="The last 30 days" />
              <span class="figure">{percent(one.uptime["30d"])}</span>
            </div>
          </section>
          <div class="halves">
            <section aria-labelledby="checks">
              <h2 id="checks">Last checks</h2>
              {checks.length === 0 && <Empty>None since Argus was started.</Empty>}
              <table>
                <thead class="hidden">
                  <tr>
                    <th>When</th>
                    <th>State</th>
                    <th>Latency</th>
                  </tr>
                </thead>
                <tbody>
                  {checks.map((reading) => (
                    <tr key={reading.at}>
                      <td class="figure soft">{clock(reading.at)}</td>
                      <td>
                        <Status state={reading.state} />
                      </td>
                      <td class="figure">{ms(reading.latencyMs)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </section>
            <section aria-labelledby="its-incidents">
              <h2 id="its-incidents">Incidents</h2>
              {incidents.length === 0 && <Empty>None of the last twenty was its own.</Empty>}
              <ul class="plain">
                {incidents.map((incident) => (
                  <li key={incident.id}>
                    <a href={to("incidents", incident.id)}>{clock(incident.opened)}</a> {incident.cause}{" "}
                    <span class="soft">{incident.closed ? `over after ${duration((Date.parse(incident.closed) - Date.parse(incident.opened)) / 1000)}` : "open"}</span>
                  </li>
                ))}
              </ul>
            </section>
          </div>
        </>
      )}
    </>
  );
}

export function ServicesView({ state, readings, name }: { state: State; readings: ReadonlyMap<string, Reading[]>; name: string }) {
  if (!name) return <List state={state} />;
  const one = state.services.find((service) => service.name === name);
  if (!one)
    return (
      <Empty>
        There is no service {name}. <a href={to("services")}>All services</a>
      </Empty>
    );
  return <Detail key={name} one={one} live={readings.get(name)} state={state} />;
}
