// Numbers, sizes and times as text, and CQL names.

export function count(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return '–';
  const size = Math.abs(value);
  if (size >= 1e9) return `${(value / 1e9).toFixed(1)} G`;
  if (size >= 1e6) return `${(value / 1e6).toFixed(1)} M`;
  if (size >= 1e4) return `${(value / 1e3).toFixed(1)} k`;
  if (size >= 100 || Number.isInteger(value)) return Math.round(value).toLocaleString('en');
  return value.toFixed(size >= 10 ? 1 : 2);
}

export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return '–';
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let at = 0;
  while (Math.abs(value) >= 1024 && at < units.length - 1) {
    value /= 1024;
    ++at;
  }
  return `${at === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[at]}`;
}

export const bytesPerSecond = (value: number | null | undefined) => (value === null || value === undefined ? '–' : `${bytes(value)}/s`);
export const perSecond = (value: number | null | undefined) => (value === null || value === undefined ? '–' : `${count(value)}/s`);

export function micros(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  if (value < 1000) return `${Math.round(value)} µs`;
  if (value < 1e6) return `${(value / 1e3).toFixed(value < 1e4 ? 2 : 1)} ms`;
  return `${(value / 1e6).toFixed(2)} s`;
}

export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return '–';
  if (seconds < 60) return `${Math.round(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
  return `${Math.floor(seconds / 86400)} d ${Math.floor((seconds % 86400) / 3600)} h`;
}

export const percent = (share: number) => `${(100 * share).toFixed(share < 0.1 ? 1 : 0)}%`;
export const clock = (millis: number) => new Date(millis).toLocaleTimeString('en-GB');
export const moment = (millis: number) => new Date(millis).toLocaleString('en-GB');
export const plural = (n: number, one: string, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

const reserved = new Set(
  'add allow alter and apply asc authorize batch begin by columnfamily create default delete desc describe drop entries execute from full grant if in index infinity insert into is keyspace limit materialized mbean mbeans modify nan norecursive not null of on or order primary rename replace revoke schema select set table to token truncate unlogged unset update use using view where with'.split(
    ' ',
  ),
);
// A name as CQL wants it: quoted if necessary.
export const name = (text: string) => (/^[a-z][a-z0-9_]*$/.test(text) && !reserved.has(text) ? text : `"${text.replaceAll('"', '""')}"`);
export const text = (value: string) => `'${value.replaceAll("'", "''")}'`;
