// Lines over time, by uPlot on a canvas. What a chart shows stands in words beside it too.
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { timeOf } from "./words";

export interface Line {
  label: string;
  colour: string; // a custom property of the style sheet
  values: (number | null)[];
  dashed?: boolean;
  points?: boolean;
  filled?: boolean;
}

interface Props {
  label: string;
  times: number[]; // milliseconds
  lines: Line[];
  unit: (value: number) => string;
  top?: number;
  height?: number;
}

const faint = (colour: string): string => colour.replace(/^rgb\((.*)\)$/, "rgba($1, 0.11)");

/** A colour of the style sheet as it is now: a canvas knows nothing of light and dark. */
function property(name: string): string {
  const probe = document.body.appendChild(document.createElement("i"));
  probe.style.color = `var(${name})`;
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}

/** Seconds only where they tell something. */
const moment = (at: number, span: number): string =>
  timeOf(at * 1000, { second: span < 900 ? "2-digit" : undefined });

function options({ lines, unit, top, height }: Props, width: number): uPlot.Options {
  const ink = property("--soft");
  const grid = { stroke: property("--line"), width: 1 };
  const axis = { stroke: ink, grid, ticks: { show: false }, font: "11px system-ui, sans-serif" };
  return {
    width,
    height: height ?? 180,
    legend: { show: false },
    cursor: { y: false, points: { size: 6 } },
    scales: { x: { time: true }, y: { range: (_, __, most) => [0, Math.max(top ?? 0, (most || 1) * 1.15)] } },
    axes: [
      { ...axis, size: 28, space: 76, values: (_, ticks) => ticks.map((tick) => moment(tick, (ticks.at(-1) ?? 0) - (ticks[0] ?? 0))) },
      { ...axis, size: 58, values: (_, ticks) => ticks.map((tick) => unit(tick)) },
    ],
    series: [
      {},
      ...lines.map((line) => ({
        label: line.label,
        stroke: property(line.colour),
        width: 1.75,
        dash: line.dashed ? [6, 5] : undefined,
        fill: line.filled ? faint(property(line.colour)) : undefined,
        points: { show: line.points ?? false, size: 4 },
        spanGaps: line.dashed ?? false,
      })),
    ],
  };
}

export function Chart(props: Props) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const data: uPlot.AlignedData = [props.times.map((at) => at / 1000), ...props.lines.map((line) => line.values)];
  const shape = props.lines.map((line) => line.label).join() + props.top;
  useLayoutEffect(() => {
    const make = () => {
      plot.current?.destroy();
      if (box.current) plot.current = new uPlot(options(props, Math.max(200, box.current.clientWidth)), data, box.current);
    };
    make();
    const sized = new ResizeObserver(() => {
      const width = box.current?.clientWidth ?? 0;
      if (plot.current && width && width !== plot.current.width) plot.current.setSize({ width, height: props.height ?? 180 });
    });
    if (box.current) sized.observe(box.current);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", make);
    addEventListener("argus-theme", make);
    return () => {
      sized.disconnect();
      scheme.removeEventListener("change", make);
      removeEventListener("argus-theme", make);
      plot.current?.destroy();
      plot.current = null;
    };
  }, [shape]);
  useEffect(() => plot.current?.setData(data), [props.times.length, props.times.at(-1), props.lines]);
  return (
    <figure class="chart">
      <div ref={box} role="img" aria-label={props.label} />
      <figcaption>
        {props.lines.map((line) => (
          <span key={line.label} class={`key ${line.dashed ? "dashed" : ""} of-${line.colour.slice(2)}`}>
            {line.label}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}
