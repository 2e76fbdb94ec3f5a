// The small things that views are made of.
import { now } from "./time";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Problem, asProblem, get } from "./api";
import { type Tone, clock, duration, moment, percent, plain, toneOf } from "./words";

const SHAPES: Record<Tone, JSX.Element> = {
  ok: <circle cx="6" cy="6" r="4.5" />,
  warn: <path d="M6 1.2 11.2 10.6H.8z" />,
  bad: <rect x="1.4" y="1.4" width="9.2" height="9.2" rx="1" />,
  odd: <path d="M6 .8 11.2 6 6 11.2.8 6z" />,
  none: <circle cx="6" cy="6" r="3.6" fill="none" stroke="currentColor" stroke-width="1.8" />,
};

/** A state is a colour and a shape; the word stands beside it. */
export const Mark = ({ tone }: { tone: Tone }) => (
  <svg class={`mark ${tone}`} viewBox="0 0 12 12" width="12" height="12" aria-hidden="true" fill="currentColor">
    {SHAPES[tone]}
  </svg>
);

export const Status = ({ state, also, tone = toneOf(state) }: { state: string; also?: string; tone?: Tone }) => (
  <span class={`status ${tone} is-${state.replaceAll(/[^a-z]+/g, "-")}`}>
    <Mark tone={tone} />
    <span>{plain(state)}</span>
    {also && <span class="soft"> · {also}</span>}
  </span>
);

const tickers = new Set<() => void>();
setInterval(() => document.hidden || tickers.forEach((tick) => tick()), 1000);

export function useTick() {
  const [, again] = useState(0);
  useEffect(() => {
    const tick = () => again((n) => n + 1);
    tickers.add(tick);
    return () => void tickers.delete(tick);
  }, []);
}

export function Ago({ at, bare }: { at: string | number | null; bare?: boolean }) {
  useTick();
  if (at === null || at === "") return <span class="soft">never</span>;
  const seconds = (now() - new Date(at).getTime()) / 1000;
  return (
    <time dateTime={new Date(at).toISOString()} title={moment(at)}>
      {seconds < -1 ? `in ${duration(-seconds)}` : bare ? duration(seconds) : `${duration(seconds)} ago`}
    </time>
  );
}

export const Empty = ({ children }: { children: ComponentChildren }) => <p class="empty">{children}</p>;

export const Trouble = ({ problem, again }: { problem: Problem; again?: () => void }) => (
  <div class="trouble" role="alert">
    <p>
      <Mark tone="bad" /> {problem.code && <strong>{problem.code}</strong>} {problem.message}
    </p>
    {problem.hint && <p>{problem.hint}</p>}
    {problem.actions.length > 0 && <p class="soft">What may help: {problem.actions.map(plain).join(", ")}.</p>}
    {again && <button onClick={again}>Try again</button>}
  </div>
);

interface Fetched<T> {
  value: T | null;
  problem: Problem | null;
  again: () => void;
}

/** Reads once, and again whenever `stamp` changes; what was there stays until the new is. */
export function useFetched<T>(path: string | null, stamp: unknown = 0, ask: (path: string) => Promise<T> = get): Fetched<T> {
  const [found, set] = useState<{ path: string | null; value: T | null; problem: Problem | null }>({ path: null, value: null, problem: null });
  const [turn, again] = useState(0);
  useEffect(() => {
    if (path === null) return;
    let current = true;
    ask(path).then(
      (value) => current && set({ path, value, problem: null }),
      (error) => current && set((was) => ({ path, value: was.path === path ? was.value : null, problem: asProblem(error) })),
    );
    return () => void (current = false);
  }, [path, stamp, turn]);
  const mine = found.path === path;
  return { value: mine ? found.value : null, problem: mine ? found.problem : null, again: () => again((n) => n + 1) };
}

export interface Bar {
  start: string;
  uptime: number | null;
  checks: number;
}

/** Uptime as small bars: what was up stands from below, what was down hangs from above, nothing seen is a dot. */
export function Bars({ bars, span, count, label }: { bars: Bar[] | null; span: number; count: number; label: string }) {
  const last = Math.floor(now() / 1000 / span) * span;
  const known = new Map((bars ?? []).map((one) => [new Date(one.start).getTime() / 1000, one]));
  const judged = (bars ?? []).filter((one) => one.uptime !== null);
  const worst = judged.reduce((least, one) => Math.min(least, one.uptime ?? 1), 1);
  const said = judged.length ? `${label}: the worst is ${percent(worst)}` : `${label}: nothing was judged`;
  return (
    <svg class="bars" viewBox={`0 0 ${count * 5 - 0.7} 22`} preserveAspectRatio="none" role="img" aria-label={said}>
      {Array.from({ length: count }, (_, place) => {
        const start = last - (count - 1 - place) * span;
        const one = known.get(start);
        const x = place * 5;
        if (!one || one.uptime === null) return <rect key={start} class="nothing" x={x} y="10" width="4" height="2" />;
        const bad = one.uptime === 1 ? 0 : Math.max(5, Math.round(22 * (1 - one.uptime)));
        return (
          <g key={start}>
            <title>{`${clock(start * 1000)}: ${percent(one.uptime)} of ${one.checks} checks`}</title>
            {bad < 22 && <rect class="good" x={x} y={bad ? bad + 1 : 0} width="4.3" height={22 - (bad ? bad + 1 : 0)} />}
            {bad > 0 && <rect class="poor" x={x} y="0" width="4.3" height={bad} />}
          </g>
        );
      })}
    </svg>
  );
}

interface RowsProps<T> {
  items: T[];
  height: number;
  name: (item: T) => string;
  draw: (item: T) => JSX.Element;
  label: string;
  /** Told which are seen, for what is read only of those. */
  seen?: (items: T[]) => void;
}

/** A list of any length: only what is on the screen is in the document. */
export function Rows<T>({ items, height, name, draw, label, seen }: RowsProps<T>) {
  const box = useRef<HTMLUListElement>(null);
  const [range, set] = useState<[number, number]>([0, 40]);
  useLayoutEffect(() => {
    const look = () => {
      const top = -(box.current?.getBoundingClientRect().top ?? 0);
      const first = Math.max(0, Math.floor(top / height) - 8);
      const last = Math.ceil((top + innerHeight) / height) + 8;
      set((was) => (was[0] === first && was[1] === last ? was : [first, Math.max(first, last)]));
    };
    look();
    addEventListener("scroll", look, { passive: true });
    addEventListener("resize", look);
    return () => (removeEventListener("scroll", look), removeEventListener("resize", look));
  }, [height, items.length]);
  const shown = items.slice(...range);
  const names = shown.map(name).join();
  useEffect(() => seen?.(shown), [names]);
  return (
    <ul class="rows" ref={box} aria-label={label} style={{ height: `${items.length * height}px` }}>
      {shown.map((item, place) => (
        <li key={name(item)} style={{ height: `${height}px`, top: `${(range[0] + place) * height}px` }} aria-setsize={items.length} aria-posinset={range[0] + place + 1}>
          {draw(item)}
        </li>
      ))}
    </ul>
  );
}

export function useNarrow(): boolean {
  const query = "(max-width: 46rem)";
  const [narrow, set] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const look = () => set(media.matches);
    media.addEventListener("change", look);
    return () => media.removeEventListener("change", look);
  }, []);
  return narrow;
}

export const Facts = ({ facts }: { facts: [string, ComponentChildren][] }) => (
  <dl class="facts">
    {facts
      .filter(([, value]) => value !== null && value !== "" && value !== undefined && value !== false)
      .map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
);

/** Everything that was recorded with an event, as it is. */
export function Evidence({ data }: { data: Record<string, unknown> }) {
  const shown = Object.entries(data).filter(([key, value]) => !["type", "timestamp", "subject"].includes(key) && value !== null && value !== "");
  return (
    <dl class="evidence">
      {shown.map(([key, value]) => (
        <div key={key}>
          <dt>{key}</dt>
          <dd>{typeof value === "object" ? JSON.stringify(value, null, 1) : String(value)}</dd>
        </div>
      ))}
    </dl>
  );
}
