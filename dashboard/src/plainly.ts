// Texts of agents and programs may hold characters that turn the order of what is read around, or that no screen shows.
// They are drawn as a dot, as the terminal does: what a person approves is what is on record. In the JSON, before it is
// read: one pass over all strings of an answer.
const RAW = /[\u0080-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const WRITTEN = /(?<!\\)((?:\\\\)*)\\u(?:00(?:0[0-8bcef]|1[0-9a-f]|[7][f]|[89][0-9a-f])|061c|200[ef]|202[a-e]|206[6-9])/gi;

export const plainly = (json: string): string => json.replace(RAW, "·").replace(WRITTEN, "$1·");
