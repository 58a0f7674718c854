// The overview: warnings, the state now, and the last hour.
import { useEffect, useRef, useState } from 'preact/hooks';
import { get, isCut } from './api';
import { Chart } from './chart';
import { bytes, bytesPerSecond, count, duration, micros, percent, perSecond, plural } from './format';
import { link } from './router';
import { Empty, ErrorBox, Icon, Loading, PageHead, usePolling, useTitle } from './ui';

interface Warning {
  severity: 'error' | 'warning';
  text: string;
  keyspace: string;
  table: string;
}
type SeriesMap = Record<string, number[]>;
interface Answer {
  now: Record<string, any>;
  series: SeriesMap;
  warnings: Warning[];
}

const hour = 3600_000;
const maxWarnings = 6; // shown until all are asked for
const cores = (value: number) => `${value.toFixed(2)} ${value === 1 ? 'core' : 'cores'}`;

// Appends new samples and forgets those older than an hour.
function merge(old: SeriesMap | null, fresh: SeriesMap): SeriesMap {
  if (!old) return fresh;
  const from = (fresh.time.at(-1) ?? old.time.at(-1) ?? 0) - hour;
  const first = Math.max(0, old.time.findIndex((time) => time >= from));
  return Object.fromEntries(Object.keys(fresh).map((key) => [key, [...old[key].slice(first), ...fresh[key]]]));
}

const Stat = ({ label, value, sub }: { label: string; value: string; sub?: string }) => (
  <div class="stat">
    <span class="stat-label">{label}</span>
    <span class="stat-value">{value}</span>
    <span class="stat-sub">{sub ?? '\u00a0'}</span>
  </div>
);

function Stats({ now, series }: { now: Record<string, any>; series: SeriesMap }) {
  const last = (key: string) => series[key]?.at(-1) ?? 0;
  const busy = (key: string) => (last(key) > 0 ? micros(last(key)) : '–');
  return (
    <div class="stats stats-8">
      <Stat label="Reads" value={perSecond(last('reads'))} sub={`p99 ${busy('read_p99')}`} />
      <Stat label="Writes" value={perSecond(last('writes'))} sub={`p99 ${busy('write_p99')}`} />
      <Stat label="Errors" value={perSecond(last('errors'))} sub={`${count(now.errors)} since the start`} />
      <Stat label="CPU" value={percent(last('cpu') / (now.cores || 1))} sub={`${last('cpu').toFixed(2)} of ${now.cores} cores`} />
      <Stat label="Memory" value={bytes(last('memory'))} sub={`cache ${bytes(now.cache_bytes)}`} />
      <Stat label="Disk" value={bytes(last('disk'))} sub={now.disk_free_bytes ? `${bytes(now.disk_free_bytes)} free` : now.data === ':memory:' ? 'in memory' : undefined} />
      <Stat label="Clients" value={count(last('connections'))} sub={`${count(last('in_flight'))} in flight`} />
      <Stat label="Uptime" value={duration(now.uptime_seconds)} sub={`${count(now.requests)} requests`} />
    </div>
  );
}

// Errors first. A schema of thousands of tables may have as many warnings.
function Warnings({ warnings }: { warnings: Warning[] }) {
  const [all, setAll] = useState(false);
  const sorted = [...warnings].sort((a, b) => Number(b.severity === 'error') - Number(a.severity === 'error'));
  const shown = all ? sorted : sorted.slice(0, maxWarnings);
  return (
    <>
      <ul class="warnings" aria-label="Warnings">
        {shown.map((one, i) => (
          <li key={i} class={`notice notice-${one.severity}`}>
            <Icon name="warning" />
            <span>
              {one.table && (
                <a href={link(['table', one.keyspace, one.table])}>
                  <bdi>{one.keyspace}</bdi>.<bdi>{one.table}</bdi>
                </a>
              )}{' '}
              <bdi>{one.text}</bdi>
            </span>
          </li>
        ))}
      </ul>
      {shown.length < sorted.length && (
        <p class="pad">
          <button type="button" class="link" onClick={() => setAll(true)}>
            {plural(sorted.length - shown.length, 'more warning')}
          </button>
        </p>
      )}
    </>
  );
}

export function Overview() {
  useTitle('Overview');
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const series = useRef<SeriesMap | null>(null);
  const load = async () => {
    try {
      const fresh: Answer = await get('overview', { since: series.current?.time.at(-1) ?? 0 });
      series.current = merge(series.current, fresh.series);
      setAnswer(fresh);
      setError(null);
    } catch (problem) {
      setError(problem as Error);
    }
  };
  useEffect(() => void load(), []);
  usePolling(load, 5);
  if (!answer) return error && !isCut(error) ? <ErrorBox error={error} /> : <Loading />;
  const shown = series.current!;
  const time = shown.time.map((millis) => millis / 1000);
  const latency = (key: string) => shown[key].map((value) => value || null);
  return (
    <>
      <PageHead title="Overview" sub="Live, with the last hour" />
      {error && !isCut(error) && <ErrorBox error={error} />}
      <Warnings warnings={answer.warnings} />
      <Stats now={answer.now} series={shown} />
      {time.length < 2 ? (
        <Empty title="Collecting the first samples">
          <p>Charts appear within a few seconds.</p>
        </Empty>
      ) : (
        <div class="charts">
          <Chart title="Requests" time={time} format={perSecond} max={10} series={[
            { label: 'reads', values: shown.reads, colour: '--series-1', fill: true },
            { label: 'writes', values: shown.writes, colour: '--series-2' },
            { label: 'others', values: shown.others, colour: '--series-3' },
            { label: 'errors', values: shown.errors, colour: '--series-4' },
          ]} />
          <Chart title="Latency" time={time} format={micros} max={1000} series={[
            { label: 'read p50', values: latency('read_p50'), colour: '--series-3' },
            { label: 'read p99', values: latency('read_p99'), colour: '--series-1' },
            { label: 'write p99', values: latency('write_p99'), colour: '--series-2' },
          ]} />
          <Chart title="CPU" time={time} format={cores} max={0.5} series={[{ label: 'used', values: shown.cpu, colour: '--series-1', fill: true }]} />
          <Chart title="Memory" time={time} format={bytes} series={[
            { label: 'resident', values: shown.memory, colour: '--series-1', fill: true },
            { label: 'not yet in files', values: shown.memtable, colour: '--series-2' },
          ]} />
          <Chart title="Network" time={time} format={bytesPerSecond} max={1024} series={[
            { label: 'received', values: shown.received, colour: '--series-1' },
            { label: 'sent', values: shown.sent, colour: '--series-2' },
          ]} />
          <Chart title="Disk writes" time={time} format={bytesPerSecond} max={1024} series={[
            { label: 'flushes', values: shown.flushed, colour: '--series-1' },
            { label: 'compactions', values: shown.compacted, colour: '--series-2' },
          ]} />
          <Chart title="Block cache hits" time={time} format={percent} max={1} series={[{ label: 'hits', values: shown.cache_hits.map((share) => Math.min(share, 1)), colour: '--series-3', fill: true }]} />
          <Chart title="Clients" time={time} format={count} max={4} series={[
            { label: 'connections', values: shown.connections, colour: '--series-1' },
            { label: 'requests in flight', values: shown.in_flight, colour: '--series-2' },
          ]} />
        </div>
      )}
    </>
  );
}
