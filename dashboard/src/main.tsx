import { render } from "preact";
import { App } from "./app";
import { keeper } from "./keeper";
import "./style.css";
import { theme, wear } from "./theme";

wear(theme());
const page = document.getElementById("page");
if (page) {
  page.replaceChildren();
  render(<App />, page);
}
void keeper.run();
