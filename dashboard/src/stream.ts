// Server-sent events, read by hand: EventSource hears only names that it was given beforehand, gives up for good when it is
// refused once, and cannot be told where to begin.
import { Refused, asProblem } from "./api";
import type { Told } from "./model";
import { plainly } from "./plainly";
import { now } from "./time";

const SILENCE = 12_000; // the daemon says something every 5 s

export interface Chunk {
  told: Told[];
  reset: string | null;
}

/** Takes lines in, gives events out. */
export class Lines {
  #rest = "";
  #id: string | null = null;
  #name = "";
  #data = "";

  feed(text: string): Chunk {
    const told: Told[] = [];
    let reset: string | null = null;
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") {
        const one = this.#end();
        if (one?.type === "reset" && one.channel === "") reset = String(one.data.reason ?? "");
        else if (one) told.push(one);
      } else if (line.startsWith("id: ")) this.#id = line.slice(4);
      else if (line.startsWith("event: ")) this.#name = line.slice(7);
      else if (line.startsWith("data: ")) this.#data += line.slice(6);
    }
    return { told, reset };
  }

  #end(): Told | null {
    const [id, name, text] = [this.#id, this.#name, this.#data];
    this.#id = null;
    this.#name = this.#data = "";
    if (!text) return null;
    const data = JSON.parse(plainly(text)) as Record<string, unknown>;
    const colon = name.indexOf(":");
    const channel = colon < 0 ? "" : name.slice(0, colon);
    return { id, channel, type: String(data.type ?? name), data, at: Number(data.timestamp) || now() };
  }
}

/** Reads until it is cut, refused, silent for too long or told to stop; says why by raising. `once`: what is there, to its end. */
export async function read(query: string, after: string | null, heard: (chunk: Chunk) => void, stop: AbortSignal, once = false) {
  const silent = new AbortController();
  let timer = setTimeout(() => silent.abort(), SILENCE);
  try {
    const answer = await fetch(`/api/events?${query}`, {
      headers: after ? { "last-event-id": after } : {},
      signal: AbortSignal.any([stop, silent.signal]),
      cache: "no-store",
    });
    if (!answer.ok || !answer.body) {
      const code = answer.status === 401 ? "UNAUTHORIZED" : `HTTP ${answer.status}`;
      throw new Refused({ status: answer.status, code, message: "the events are refused", actions: [] });
    }
    const lines = new Lines();
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { value, done } = await reader.read();
      if (done && once) return;
      if (done) throw new Refused({ status: 0, code: "", message: "the stream ended", actions: [] });
      clearTimeout(timer);
      timer = setTimeout(() => silent.abort(), SILENCE);
      heard(lines.feed(value));
    }
  } catch (error) {
    throw new Refused(asProblem(error));
  } finally {
    clearTimeout(timer);
  }
}
