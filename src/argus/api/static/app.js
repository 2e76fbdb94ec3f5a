// The page in its first form: state once, then live from the journal. Every text from outside is set as text, never as markup.
"use strict";
const place = (id) => document.getElementById(id);
const element = (tag, text, kind) => {
  const made = document.createElement(tag);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
};
const time = (value) => {
  if (!value) return "";
  const moment = new Date(value);
  const today = moment.toDateString() === new Date().toDateString();
  return today ? moment.toLocaleTimeString() : moment.toLocaleString();
};

function show(state) {
  const down = state.services.filter((one) => one.state === "down");
  const verdict = place("verdict");
  verdict.textContent = state.infrastructureEvent
    ? "Infrastructure event: nothing is restarted until it has ended"
    : down.length ? `${down.length} of ${state.services.length} services ${down.length === 1 ? "is" : "are"} down`
    : state.well ? "All is well" : state.argus.store !== "ok" ? "The record cannot be written: nothing is acted on" : "Agents need you";
  verdict.className = state.well ? "up" : "down";
  place("facts").textContent =
    `Autonomy ${state.autonomy} · restarts left this hour ${state.budget.left}/${state.budget.most} · Argus ${state.argus.version}`;
  place("services").replaceChildren(...state.services.map((one) => {
    const row = document.createElement("tr");
    const latency = one.latencyMs === null ? "" : `${one.latencyMs} ms`;
    const seen = one.repairing ? `restarted, verifying · ${one.detail}` : one.gate ? `${one.detail} · held back: ${one.gate}` : one.detail;
    row.append(element("td", one.name), element("td", one.state, one.state), element("td", time(one.since)),
      element("td", latency), element("td", seen));
    return row;
  }));
  place("nothing").hidden = state.services.length > 0;
  place("crew").hidden = state.agents.length === 0;
  place("agents").replaceChildren(...state.agents.map((one) => {
    const row = document.createElement("tr");
    const seen = one.age_seconds === null ? "never" : `${Math.round(one.age_seconds)} s ago`;
    const task = one.current_task.length > 200 ? `${one.current_task.slice(0, 200)}…` : one.current_task;
    const notes = [one.status, one.reason, one.gate && `held back: ${one.gate}`].filter(Boolean).join(" · ");
    row.append(element("td", one.agent_id), element("td", one.state, one.state), element("td", seen),
      element("td", one.pid === null ? "" : String(one.pid)), element("td", notes ? `${task} (${notes})` : task));
    return row;
  }));
  place("incidents").replaceChildren(...state.incidents.map((one) =>
    element("li", `${time(one.opened)} ${one.subject || one.kind}: ${one.cause || one.data.cause || ""} ${one.closed ? "(over)" : "(open)"}`)));
}

function tell(data) {
  const what = [data.outcome, data.to, data.gate, data.cause].filter(Boolean).join(", ");
  const line = element("li", `${time(data.timestamp)} ${data.type.replaceAll("_", " ")} ${data.service || data.agent_id || ""} ${what}`);
  place("timeline").prepend(line);
  while (place("timeline").children.length > 100) place("timeline").lastChild.remove();
}

async function load() {
  const answer = await fetch("/api/state");
  if (answer.status === 401) {
    place("verdict").textContent = "Not logged in";
    place("facts").textContent = "Run `argus open` in a terminal and open the link it prints.";
    return null;
  }
  const state = await answer.json();
  show(state);
  return state;
}

let waiting = null;
function soon() {
  // Events come in groups; one look at the state answers all of a group.
  waiting ??= setTimeout(() => { waiting = null; load().catch(() => {}); }, 150);
}

async function follow() {
  const state = await load().catch(() => null);
  if (!state) return;
  const source = new EventSource("/api/events?last=30");
  const names = ["services:service_down", "services:decision_changed", "services:restart_started", "services:restart_finished",
    "services:service_recovered", "services:service_escalated", "services:state_changed", "services:infrastructure_event",
    "services:infrastructure_event_ended", "services:service_paused", "services:service_resumed", "system:autonomy_changed",
    "agents:agent_spawned", "agents:agent_died", "agents:agent_respawned", "agents:agent_silent", "agents:agent_back",
    "agents:agent_escalated", "agents:agent_removed", "agents:respawn_held_back", "agents:stop_requested", "system:clock_jump", "notify:notification_sent", "reset"];
  for (const name of names) source.addEventListener(name, (event) => { tell(JSON.parse(event.data)); soon(); });
  source.onerror = () => { place("verdict").textContent = "Argus does not answer; trying again…"; place("verdict").className = "down"; };
  source.onopen = soon;
  setInterval(soon, 10000);
}
follow();
