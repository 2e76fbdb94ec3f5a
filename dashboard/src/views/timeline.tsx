import { useMemo, useState } from "preact/hooks";
import type { Told } from "../model";
import { Empty, Evidence, Mark } from "../parts";
import { to } from "../route";
import { clock, sentence, subject, toneOfEvent } from "../words";
import { TIMELINE, type World } from "../world";
import { clipped } from "./overview";

function Row({ one }: { one: Told }) {
  const [open, set] = useState(false);
  return (
    <li>
      <time class="soft figure">{clock(one.at)}</time>
      <Mark tone={toneOfEvent(one)} />
      <details onToggle={(event) => set((event.currentTarget as HTMLDetailsElement).open)}>
        <summary data-row>
          <strong>{subject(one)}</strong> {clipped(sentence(one))} <span class="soft small">{one.channel}</span>
        </summary>
        {open && (
          <>
            <Evidence data={one.data} />
            {typeof one.data.incident === "string" && one.data.incident && (
              <p>
                <a href={to("incidents", one.data.incident)}>The whole incident</a>
              </p>
            )}
          </>
        )}
      </details>
    </li>
  );
}

export function TimelineView({ world }: { world: World }) {
  const [words, search] = useState("");
  const [only, choose] = useState<string | null>(null);
  const [held, hold] = useState<Told[] | null>(null);
  const events = held ?? world.timeline;
  const channels = [...new Set(events.map((one) => one.channel))].sort();
  const wanted = words.trim().toLowerCase();
  const found = useMemo(
    () =>
      events.filter(
        (one) => (!only || one.channel === only) && (!wanted || `${one.type} ${one.channel} ${JSON.stringify(one.data)}`.toLowerCase().includes(wanted)),
      ),
    [events, only, wanted],
  );
  const missed = held ? world.timeline.findIndex((one) => one.id === held[0]?.id) : 0;
  return (
    <>
      <h1>Timeline</h1>
      <div class="tools">
        <input type="search" placeholder="Search  /" aria-label="Search events" value={words} onInput={(event) => search(event.currentTarget.value)} />
        <button data-pause aria-pressed={held !== null} onClick={() => hold(held ? null : world.timeline)}>
          {held ? `Go on${missed > 0 ? ` (${missed} new)` : missed < 0 ? " (many new)" : ""}` : "Pause"}
        </button>
        <div class="chips" role="group" aria-label="Only of one channel">
          {channels.map((one) => (
            <button key={one} class="chip" aria-pressed={only === one} onClick={() => choose(only === one ? null : one)}>
              {one}
            </button>
          ))}
        </div>
      </div>
      {world.gaps > 0 && <Empty>The record began anew or ran far ahead while this page was cut off: what is older is not shown here.</Empty>}
      {events.length === 0 && <Empty>Nothing has happened yet. What Argus sees, decides and does appears here by itself.</Empty>}
      {events.length > 0 && found.length === 0 && <Empty>None of the last {events.length} events is like that.</Empty>}
      <ol class="story live-list">
        {found.map((one) => (
          <Row key={one.id} one={one} />
        ))}
      </ol>
      {events.length >= TIMELINE && (
        <p class="soft">
          The last {TIMELINE}. All of them: <code>argus events</code>
        </p>
      )}
    </>
  );
}
