// Calls to the daemon. The cookie of `argus open` goes along by itself.

import { plainly } from "./plainly";

export interface Problem {
  status: number;
  /** One that `argus explain` knows, or `HTTP` with its number; empty where the page itself says what is wrong. */
  code: string;
  message: string;
  actions: string[];
  /** What opens the gate that held, in the daemon's words. */
  hint?: string;
}

export class Refused extends Error {
  constructor(readonly problem: Problem) {
    super(problem.message);
  }
}

const PATIENCE = 60_000;
export const NO_DAEMON = "NO_DAEMON";

async function problemOf(answer: Response): Promise<Problem> {
  try {
    const { error } = JSON.parse(plainly(await answer.text())) as {
      error: { code: string; message: string; suggestedActions: string[]; details?: { hint?: string } };
    };
    return { status: answer.status, code: error.code, message: error.message, actions: error.suggestedActions, hint: error.details?.hint };
  } catch {
    return { status: answer.status, code: `HTTP ${answer.status}`, message: "the answer could not be read", actions: [] };
  }
}

export async function call<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const limit = AbortSignal.timeout(PATIENCE);
  let answer: Response;
  try {
    answer = await fetch(path, {
      method,
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
      headers: body === undefined ? {} : { "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    const [message, actions] = limit.aborted ? ["no whole answer within a minute: the connection is slow, or Argus is held up", []] : ["Argus does not answer", ["argus up --detach"]];
    throw new Refused({ status: 0, code: NO_DAEMON, message, actions });
  }
  if (!answer.ok) throw new Refused(await problemOf(answer));
  return JSON.parse(plainly(await answer.text())) as T;
}

export const get = <T>(path: string, signal?: AbortSignal): Promise<T> => call<T>("GET", path, undefined, signal);
export const post = <T>(path: string, body: unknown = {}): Promise<T> => call<T>("POST", path, body);
export const part = encodeURIComponent;

export function asProblem(error: unknown): Problem {
  if (error instanceof Refused) return error.problem;
  return { status: 0, code: "", message: String(error), actions: ["load the page again"] };
}
