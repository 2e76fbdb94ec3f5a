// Every action says what will happen before it does, and shows why when it is refused.
import { useEffect, useRef, useState } from "preact/hooks";
import { NO_DAEMON, type Problem, asProblem } from "./api";
import { keeper } from "./keeper";
import { Trouble } from "./parts";
import type { Link } from "./world";

export interface Action {
  title: string;
  says: string;
  verb: string;
  /** What somebody else said, to read before it is answered. */
  quote?: string;
  danger?: boolean;
  /** Text that goes along with it. */
  field?: { label: string; value: string; optional?: boolean; long?: boolean };
  choice?: { label: string; options: [string, string][]; value: string };
  run: (given: { text: string; choice: string }) => Promise<unknown>;
  done: string;
}

let open: (action: Action) => void = () => {};
export const confirm = (action: Action) => open(action);

let say: (what: string) => void = () => {};
export const tell = (what: string) => say(what);

export function Confirmation({ link }: { link: Link }) {
  const [action, set] = useState<Action | null>(null);
  const [problem, fail] = useState<Problem | null>(null);
  // What was live when Argus did not answer may be a connection whose end was not noticed yet.
  const [before, remember] = useState<Link | null>(null);
  const [busy, work] = useState(false);
  const [given, give] = useState({ text: "", choice: "" });
  const box = useRef<HTMLDialogElement>(null);
  // An answer belongs to the dialog that asked: by now there may be another, or none.
  const current = useRef<Action | null>(null);
  current.current = action;
  open = (one) => {
    fail(null);
    work(false);
    give({ text: one.field?.value ?? "", choice: one.choice?.value ?? "" });
    set(one);
  };
  useEffect(() => {
    if (action) box.current?.showModal();
  }, [action]);
  useEffect(() => {
    // Elsewhere it would ask about something that one does not see.
    const leave = () => (box.current?.close(), set(null));
    addEventListener("hashchange", leave);
    return () => removeEventListener("hashchange", leave);
  }, []);
  if (!action) return null;
  const close = () => (box.current?.close(), set(null));
  const run = async (event: Event) => {
    event.preventDefault();
    work(true);
    fail(null);
    const mine = action;
    try {
      await mine.run(given);
      if (current.current === mine) close();
      say(mine.done);
      keeper.soon();
    } catch (error) {
      const problem = asProblem(error);
      if (current.current === mine) (fail(problem), remember(keeper.world.link));
      else say(`${mine.title} ${problem.message}`);
    } finally {
      if (current.current === mine) work(false);
    }
  };
  const { field, choice } = action;
  const isBack = problem?.code === NO_DAEMON && link.kind === "live" && link !== before;
  return (
    <dialog ref={box} onClose={() => set(null)} aria-labelledby="confirm-title">
      <form onSubmit={run}>
        <h2 id="confirm-title">{action.title}</h2>
        {action.quote && (
          <pre class="log" tabIndex={0}>
            {action.quote}
          </pre>
        )}
        <p>{action.says}</p>
        {choice && (
          <label>
            {choice.label}
            <select value={given.choice} onChange={(event) => give({ ...given, choice: event.currentTarget.value })}>
              {choice.options.map(([value, words]) => (
                <option key={value} value={value}>
                  {words}
                </option>
              ))}
            </select>
          </label>
        )}
        {field && (
          <label>
            {field.label}
            <textarea
              rows={field.long ? 5 : 2}
              required={!field.optional}
              value={given.text}
              onInput={(event) => give({ ...given, text: event.currentTarget.value })}
            />
          </label>
        )}
        {problem && !isBack && <Trouble problem={problem} />}
        {isBack && <p role="status">Argus answers again. What was asked for may have been done, or not: look how it stands before you ask again.</p>}
        <p class="soft small">
          {busy ? "It is on its way: closing this does not call it back." : "It is recorded that this page asked for it."}
        </p>
        <div class="buttons">
          <button type="button" onClick={close}>
            {problem || busy ? "Close" : "Cancel"}
          </button>
          <button type="submit" class={action.danger ? "danger" : "primary"} disabled={busy}>
            {busy ? "Working…" : action.verb}
          </button>
        </div>
      </form>
    </dialog>
  );
}

export function Toast() {
  const [what, set] = useState("");
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    say = (next) => {
      set(next);
      clearTimeout(timer);
      timer = setTimeout(() => set(""), 6000);
    };
  }, []);
  return (
    <p class={`toast ${what ? "shown" : ""}`} role="status">
      {what}
    </p>
  );
}
