// The daemon's time. A browser's own clock may be wrong by a day; what the page says must not be.
let offset = 0;

export const learn = (server: number): void => {
  offset = server - Date.now();
};

export const now = (): number => Date.now() + offset;
