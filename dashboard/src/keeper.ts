// Keeps the world current: reads the state, follows the events, begins again after every cut, and asks for a drawing.
import { type Problem, asProblem, get } from "./api";
import type { State, Told } from "./model";
import { takeSlot } from "./slots";
import { type Chunk, read } from "./stream";
import { learn, now } from "./time";
import { entitle } from "./title";
import { type Change, EMPTY, type World, change, epoch, number, unlike } from "./world";

const SOON = 40; // events come in groups; one look at the state answers all of a group
const LEAST = 400;
const MOST_REST = 5_000; // after a look that took long, as it does while Argus begins
const DOUBTS = 3;
const OFTEN = 15_000; // ages, budgets and uptimes change without an event
const TOO_FAR = 2_000;
const MOST = 10_000;
const ASKING = 2_000;
const UNSEEN = 60_000;

export class Keeper {
  world: World = EMPTY;
  #watchers = new Set<() => void>();
  #drawing = false;
  #last: string | null = null;
  #stop = new AbortController();
  #wake: (() => void) | null = null;
  #asked: ReturnType<typeof setTimeout> | null = null;
  #took = 0;
  #looked = 0;
  #looks = 0;
  #newest = 0;
  #doubts = new Map<string, { seen: string; asked: number }>();

  watch(draw: () => void): () => void {
    this.#watchers.add(draw);
    return () => this.#watchers.delete(draw);
  }

  apply(how: Change) {
    this.world = change(this.world, how);
    if (this.#drawing) return;
    this.#drawing = true;
    // Everything that comes before the next frame is drawn with it. A page that nobody sees has no frames, and no cost.
    requestAnimationFrame(() => {
      this.#drawing = false;
      for (const draw of this.#watchers) draw();
    });
  }

  async run() {
    addEventListener("online", () => this.now());
    let away: ReturnType<typeof setTimeout>;
    document.addEventListener("visibilitychange", () => {
      clearTimeout(away);
      if (document.hidden) away = setTimeout(() => this.#stop.abort(), UNSEEN);
      else this.now();
    });
    setInterval(() => this.world.link.kind === "live" && !document.hidden && this.soon(), OFTEN);
    let failures = 0;
    for (;;) {
      await this.#seen();
      this.#stop = new AbortController();
      try {
        await this.#follow(() => (failures = 0));
      } catch (error) {
        if (!document.hidden) await this.#rest(asProblem(error), failures++);
      }
    }
  }

  /** Tries again at once, instead of when the waiting is over. */
  now() {
    this.#wake?.();
  }

  /** Reads the state again in a moment, once for all who ask meanwhile, and never so often that it is a load. */
  soon() {
    if (this.#asked !== null) return;
    // By a clock that nobody sets: a page whose computer's was set back would wait for as long.
    const free = this.#looked + Math.max(LEAST, Math.min(MOST_REST, this.#took * 6)) - performance.now();
    const stop = this.#stop;
    this.#asked = setTimeout(() => {
      this.#asked = null;
      this.#look().catch(() => stop.abort());
    }, Math.max(SOON, free));
  }

  async #look(): Promise<State> {
    const began = performance.now();
    const look = ++this.#looks;
    const state = await get<State>("/api/state");
    // One that was begun later has answered already, and knows more.
    if (look < this.#newest) return state;
    this.#newest = look;
    this.#took = performance.now() - began;
    this.#looked = performance.now();
    learn(state.timestamp);
    this.apply({ kind: "state", state });
    // A tab that nobody sees is not drawn, and its title is all that is seen of it.
    entitle(state);
    return state;
  }

  async #follow(alive: () => void) {
    // What was waited for before the cut is answered by this look, and nothing is known of what was seen before it.
    if (this.#asked !== null) clearTimeout(this.#asked);
    this.#asked = null;
    this.#doubts.clear();
    const state = await this.#look();
    const newest = state.cursor;
    const far = this.#last && newest && (epoch(this.#last) !== epoch(newest) || number(newest) - number(this.#last) > TOO_FAR);
    if (far || !this.#last) this.#afresh(Boolean(far));
    let begun = false;
    const heard = (chunk: Chunk) => {
      if (!begun) {
        begun = true;
        alive();
        this.apply({ kind: "link", link: { kind: "live", since: Date.now() } });
      }
      this.#heard(chunk);
    };
    const from = () => (this.#last ? "" : "&last=200");
    let free: (() => void) | null;
    while (!(free = await takeSlot())) {
      // Other tabs follow the stream: this one asks, and takes the place of the first that is closed.
      await read(`follow=false${from()}`, this.#last, heard, this.#stop.signal, true);
      heard({ told: [], reset: null });
      await this.#look();
      await this.#pause(ASKING);
      if (this.#stop.signal.aborted) return;
    }
    try {
      await read(`live=true${from()}`, this.#last, heard, this.#stop.signal);
    } finally {
      free();
    }
  }

  async #pause(wait: number) {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, wait);
      this.#wake = () => (clearTimeout(timer), resolve());
    });
    this.#wake = null;
  }

  /** A tab that nobody has looked at for a while gives its stream back, and begins again when somebody does. */
  async #seen() {
    while (document.hidden)
      await new Promise<void>((resolve) => document.addEventListener("visibilitychange", () => resolve(), { once: true }));
  }

  #afresh(gap: boolean) {
    this.#last = null;
    this.apply({ kind: "afresh", gap });
  }

  #heard(chunk: Chunk) {
    if (chunk.reset !== null) {
      // Another store, or a place that was pruned: what follows is the whole journal, and nobody reads all of that.
      this.#afresh(true);
      this.#stop.abort();
      return;
    }
    if (!chunk.told.length) return;
    const newest = chunk.told.findLast((one: Told) => one.id !== null);
    const known = number(this.world.state?.cursor ?? null);
    this.#doubt(chunk.told);
    this.apply({ kind: "told", told: chunk.told });
    // Not on record, and without a place in the order: a question that was drawn after its hook had told of it.
    if (chunk.told.some((one) => one.type === "session_dialog")) this.soon();
    if (newest) {
      this.#last = newest.id;
      if (number(newest.id) > known) this.soon();
    }
  }

  /** Only Argus says who is well: a reading that does not fit what it said brings another look. One that never will, as
   * of a service that may take its time to start, is asked about a few times, and then with all the rest. */
  #doubt(told: Told[]) {
    const { state } = this.world;
    const unlikely = unlike(state, told);
    for (const one of told) if (one.type === "checked" && !unlikely.has(String(one.data.service))) this.#doubts.delete(String(one.data.service));
    for (const [name, seen] of unlikely) {
      const before = this.#doubts.get(name);
      const asked = before?.seen === seen ? before.asked : 0;
      if (asked >= DOUBTS) continue;
      this.#doubts.set(name, { seen, asked: asked + 1 });
      this.soon();
    }
  }

  async #rest(problem: Problem, failures: number) {
    const out = problem.status === 401;
    const wait = out ? 5_000 : Math.min(MOST, 300 * 2 ** failures) * (0.75 + Math.random() / 2);
    const before = this.world.link;
    const since = before.kind === "lost" ? before.since : now();
    const why = problem.code === "" ? "the connection was cut" : problem.message;
    this.apply({ kind: "link", link: out ? { kind: "out" } : { kind: "lost", since, why, again: Date.now() + wait } });
    await this.#pause(wait);
  }
}

export const keeper = new Keeper();
