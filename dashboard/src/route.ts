// Where one is: the part of the address behind #. It can be kept, sent and gone back to.
import { useLayoutEffect, useState } from "preact/hooks";
import { part } from "./api";

export interface Place {
  view: string;
  name: string;
}

export const VIEWS: [id: string, title: string, letter: string][] = [
  ["overview", "Overview", "o"],
  ["services", "Services", "s"],
  ["agents", "Agents", "a"],
  ["environments", "Environments", "e"],
  ["servers", "MCP servers", "m"],
  ["incidents", "Incidents", "i"],
  ["timeline", "Timeline", "t"],
  ["settings", "Settings", "c"],
];

/** An address that leads to no page. */
export const NOWHERE = "nowhere";

const INSIDE: Record<string, string> = { sessions: "agents" };

export function place(): Place {
  const [view = "", ...rest] = location.hash.replace(/^#\/?/, "").split("/");
  const known = VIEWS.some(([id]) => id === view) || Object.hasOwn(INSIDE, view);
  if (!view) return { view: "overview", name: "" };
  if (!known) return { view: NOWHERE, name: "" };
  try {
    return { view, name: decodeURIComponent(rest.join("/")) };
  } catch {
    return { view: NOWHERE, name: "" };
  }
}

/** The entry of the navigation under which a place stands. */
export const entry = (view: string): string => INSIDE[view] ?? view;

export const to = (view: string, name = ""): string => `#/${view}${name ? `/${part(name)}` : ""}`;

export function usePlace(): Place {
  const [here, set] = useState(place);
  // At once, not after the first painting: who goes elsewhere before that is followed too.
  useLayoutEffect(() => {
    const look = () => {
      set(place());
      scrollTo(0, 0);
    };
    addEventListener("hashchange", look);
    return () => removeEventListener("hashchange", look);
  }, []);
  return here;
}
