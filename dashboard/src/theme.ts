// Light or dark: as the machine says, unless somebody says otherwise here.
export type Theme = "auto" | "light" | "dark";

export const theme = (): Theme => {
  try {
    return (localStorage.getItem("argus-theme") as Theme | null) ?? "auto";
  } catch {
    return "auto"; // a browser that keeps nothing
  }
};

export function wear(wanted: Theme) {
  if (wanted === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = wanted;
  try {
    localStorage.setItem("argus-theme", wanted);
  } catch {
    // It lasts as long as the page does.
  }
  dispatchEvent(new Event("argus-theme"));
}
