// Time series, drawn with uPlot.
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { bytes, bytesPerSecond } from './format';
import { colour, useShownTheme } from './theme';

export interface Series {
  label: string;
  values: (number | null)[];
  colour: string; // a CSS variable
  fill?: boolean;
}

// Axes of bytes are divided at round sizes: 16 MiB, not 20,000,000.
const binarySteps = Array.from({ length: 50 }, (_, i) => 2 ** i);

interface Props {
  title: string;
  time: number[]; // seconds since 1970
  series: Series[];
  format: (value: number) => string;
  height?: number;
  max?: number; // the axis reaches at least this
  days?: boolean; // the time axis shows dates
}

function timeLabel(tick: number, ticks: number[], days = false): string {
  const at = new Date(tick * 1000);
  if (days) return at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
  const isFine = ticks.length > 1 && ticks[1] - ticks[0] < 60;
  return at.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', second: isFine ? '2-digit' : undefined });
}

function options(props: Props, width: number): uPlot.Options {
  const axis = { stroke: colour('--muted'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false }, font: '11px system-ui, sans-serif' };
  return {
    width,
    height: props.height ?? 150,
    legend: { show: false },
    padding: [8, 28, 0, 0], // half a label of the time axis
    cursor: { y: false, points: { size: 6 } },
    scales: { y: { range: (_, __, high) => [0, Math.max(high * 1.1, props.max ?? 0) || 1] } },
    axes: [
      { ...axis, size: 24, space: 70, values: (_, ticks) => ticks.map((tick) => timeLabel(tick, ticks, props.days)) },
      { ...axis, size: 62, space: 34, ...(props.format === bytes || props.format === bytesPerSecond ? { incrs: binarySteps } : {}), values: (_, ticks) => ticks.map(props.format) },
    ],
    series: [
      {},
      ...props.series.map((one) => ({
        label: one.label,
        stroke: colour(one.colour),
        width: 1.5,
        fill: one.fill ? `${colour(one.colour)}22` : undefined,
        points: { show: false },
      })),
    ],
  };
}

export function Chart(props: Props) {
  const place = useRef<HTMLDivElement>(null);
  const legend = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const shown = useShownTheme();
  const last = props.time.length - 1;

  const data = () => [props.time, ...props.series.map((one) => one.values)] as uPlot.AlignedData;
  const current = useRef(props);
  current.current = props;

  useEffect(() => {
    const element = place.current!;
    const made = new uPlot(
      {
        ...options(props, element.clientWidth || 300),
        hooks: {
          setCursor: [
            (u) => {
              const at = u.cursor.idx;
              legend.current?.querySelectorAll('b').forEach((value, i) => {
                const values = current.current.series[i]?.values;
                const shownValue = values?.[at ?? values.length - 1];
                value.textContent = shownValue === null || shownValue === undefined ? '–' : current.current.format(shownValue);
              });
            },
          ],
        },
      },
      data(),
      element,
    );
    plot.current = made;
    const observer = new ResizeObserver(() => element.clientWidth && made.setSize({ width: element.clientWidth, height: props.height ?? 150 }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [shown, props.series.length]);
  useEffect(() => plot.current?.setData(data()), [props.time]);

  return (
    <figure class="chart">
      <figcaption>
        <span class="chart-title">{props.title}</span>
        <div class="legend" ref={legend}>
          {props.series.map((one) => (
            <span key={one.label}>
              <i style={{ background: `var(${one.colour})` }} />
              {one.label} <b>{last >= 0 && one.values[last] !== null ? props.format(one.values[last]!) : '–'}</b>
            </span>
          ))}
        </div>
      </figcaption>
      <div ref={place} class="chart-place" role="img" aria-label={`${props.title}: ${props.series.map((one) => `${one.label} ${last >= 0 ? props.format(one.values[last] ?? 0) : 'unknown'}`).join(', ')}`} />
    </figure>
  );
}
