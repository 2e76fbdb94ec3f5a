import { useState } from "preact/hooks";
import { autonomy, reload } from "../actions";
import { confirm } from "../dialog";
import { KEYS } from "../keys";
import type { State } from "../model";
import { Ago, Empty, Facts, Mark } from "../parts";
import { type Theme, theme, wear } from "../theme";
import { duration } from "../words";
import type { Link } from "../world";

const LEVELS: [string, string][] = [
  ["observe", "Checks, records and tells. Does nothing by itself."],
  ["cautious", "Also proposes what it would do, and does it when you approve."],
  ["moderate", "Also restarts and respawns by itself, within the limits."],
  ["full", "Also tries a second restart in one outage."],
];

export function SettingsView({ state, link }: { state: State; link: Link }) {
  const [worn, set] = useState<Theme>(theme());
  const { argus } = state;
  return (
    <>
      <h1>Settings</h1>
      <section aria-labelledby="autonomy">
        <h2 id="autonomy">How much may Argus do by itself?</h2>
        <div class="levels">
          {LEVELS.map(([level, means]) => (
            <button
              key={level}
              class="card level"
              aria-pressed={state.autonomy === level}
              disabled={state.autonomy === level}
              onClick={() => confirm(autonomy(state.autonomy, level, means))}
            >
              <strong>
                <Mark tone={state.autonomy === level ? "ok" : "none"} /> {level}
              </strong>
              <span>{means}</span>
            </button>
          ))}
        </div>
        <p class="soft">
          {state.budget.left} of {state.budget.most} restarts are left in this hour.
        </p>
      </section>
      <section aria-labelledby="configuration">
        <h2 id="configuration">Configuration</h2>
        {argus.notices.map((one) => (
          <p key={one}>
            <Mark tone="warn" /> {one}
          </p>
        ))}
        {argus.notices.length === 0 && <Empty>{argus.config ? "No notices: everything in it was understood." : "There is no file."}</Empty>}
        <Facts
          facts={[
            ["File", argus.config ?? (argus.discovered ? "none: what was found listening is watched" : "none")],
            ["State folder", argus.home],
            ["Record", argus.store],
          ]}
        />
        <div class="buttons left">
          <button onClick={() => confirm(reload)}>Reload…</button>
        </div>
      </section>
      <section aria-labelledby="look">
        <h2 id="look">How this page looks</h2>
        <div class="chips" role="group" aria-label="Colours">
          {(["auto", "light", "dark"] as const).map((one) => (
            <button key={one} class="chip" aria-pressed={worn === one} onClick={() => (wear(one), set(one))}>
              {one === "auto" ? "as the machine says" : one}
            </button>
          ))}
        </div>
      </section>
      <section aria-labelledby="about">
        <h2 id="about">This Argus</h2>
        <Facts
          facts={[
            ["Version", argus.version],
            ["Address", argus.url],
            ["Process", argus.pid],
            link.kind === "lost" ? ["Was up for", duration((link.since - Date.parse(argus.started)) / 1000)] : ["Up for", <Ago at={argus.started} bare />],
            ["REST", <a href="/docs">every operation, with its documentation</a>],
          ]}
        />
      </section>
      <section aria-labelledby="keys">
        <h2 id="keys">Keys</h2>
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
      </section>
    </>
  );
}
