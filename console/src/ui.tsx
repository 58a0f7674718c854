// Small parts that all pages share.
import type { ComponentChildren, TargetedKeyboardEvent } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, isCut, isReachable, watchReachable } from './api';
import { count } from './format';

export function useTitle(title: string) {
  useEffect(() => {
    document.title = title ? `${title} · Sibyl` : 'Sibyl';
  }, [title]);
}

export interface Loaded<T> {
  data: T | null;
  error: Error | null;
  loading: boolean;
  reload: () => void;
}

// Loads when `dependencies` change. Answers that arrive after the next request began are ignored. Without an answer, the old data stays, and
// is loaded again when the server is back.
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, dependencies: unknown[]): Loaded<T> {
  const [state, setState] = useState<{ data: T | null; error: Error | null; loading: boolean; of: string }>({ data: null, error: null, loading: true, of: '' });
  const [wasCut, setCut] = useState(false);
  const [round, setRound] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    setState((old) => ({ ...old, loading: true }));
    const finish = (data: T | null, error: Error | null) => {
      if (abort.signal.aborted) return;
      setCut(isCut(error));
      const of = JSON.stringify(dependencies);
      setState((old) => (isCut(error) && old.data && old.of === of ? { ...old, loading: false } : { data, error, loading: false, of }));
    };
    load(abort.signal).then(
      (data) => finish(data, null),
      (error) => finish(null, error),
    );
    return () => abort.abort();
  }, [...dependencies, round]);
  const reload = () => setRound((n) => n + 1);
  useEffect(() => (wasCut ? watchReachable(() => isReachable() && reload()) : undefined), [wasCut]);
  return { ...state, reload };
}

// Calls again after every `seconds`, while the page is visible.
export function usePolling(poll: () => void, seconds: number) {
  const current = useRef(poll);
  current.current = poll;
  useEffect(() => {
    const timer = setInterval(() => !document.hidden && current.current(), seconds * 1000);
    return () => clearInterval(timer);
  }, [seconds]);
}

const paths: Record<string, string> = {
  overview: 'M3 13h4l3-8 4 14 3-9 2 3h2',
  schema: 'M4 6c0-1.700 3.600-3 8-3s8 1.300 8 3-3.600 3-8 3-8-1.300-8-3zm0 0v12c0 1.700 3.600 3 8 3s8-1.300 8-3V6M4 12c0 1.700 3.600 3 8 3s8-1.300 8-3',
  query: 'M4 5l6 6-6 6M12 19h8',
  advisor: 'M9 18h6M10 21h4M12 3a6 6 0 0 0-4 10.500c.8.800 1 1.500 1 2.500h6c0-1 .2-1.700 1-2.500A6 6 0 0 0 12 3z',
  activity: 'M12 7v5l3 2M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z',
  cluster: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 3v5M4.200 16.500l4.300-2.500M19.800 16.500l-4.300-2.500',
  settings: 'M4 7h10M18 7h2M4 17h2M10 17h10M16 4.500v5M8 14.500v5',
  table: 'M4 5h16v14H4zM4 10h16M10 10v9',
  view: 'M2 12c3-5 6-7 10-7s7 2 10 7c-3 5-6 7-10 7s-7-2-10-7zM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z',
  index: 'M5 4v16M9 7h10M9 12h7M9 17h4',
  type: 'M5 7V5h14v2M12 5v14M9 19h6',
  function: 'M9 20c2 0 2-2 2.500-5l1-6C13 6 13 4 15 4M7 11h8',
  chevron: 'M9 6l6 6-6 6',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  check: 'M5 12l5 5 9-10',
  close: 'M6 6l12 12M18 6L6 18',
  play: 'M7 4l13 8-13 8z',
  stop: 'M6 6h12v12H6z',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M4 12H2M22 12h-2M5 5l1.500 1.500M17.500 17.500L19 19M19 5l-1.500 1.500M6.500 17.500L5 19',
  moon: 'M20 14.500A8.500 8.500 0 0 1 9.500 4a8.500 8.500 0 1 0 10.500 10.500z',
  auto: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 3v18',
  logout: 'M14 4h5v16h-5M10 8l-4 4 4 4M6 12h9',
  warning: 'M12 4L2.500 20h19zM12 10v4.500M12 17.200v.3',
  refresh: 'M20 11a8 8 0 1 0-2.500 6.500M20 4v7h-7',
  key: 'M14.500 3a6.500 6.500 0 0 0-6 9L3 17.500V21h3.500l.5-2h2v-2h2l1.500-1.500a6.500 6.500 0 1 0 2-12.500zM16.500 7.500v.1',
};
export function Icon({ name, size = 18 }: { name: string; size?: number }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}

export function ErrorBox({ error, children }: { error: Error; children?: ComponentChildren }) {
  const hint = error instanceof ApiError ? error.body.hint : '';
  return (
    <div class="notice notice-error" role="alert">
      <Icon name="warning" />
      <div>
        <p>{error.message}</p>
        {hint && <p class="muted">{hint}</p>}
        {children}
      </div>
    </div>
  );
}

export function Notice({ kind = 'info', children }: { kind?: 'info' | 'warning' | 'ok' | 'error'; children: ComponentChildren }) {
  return (
    <div class={`notice notice-${kind}`} role="status">
      <Icon name={kind === 'ok' ? 'check' : 'warning'} />
      <div>{children}</div>
    </div>
  );
}

export const Loading = ({ what = 'Loading' }: { what?: string }) => (
  <p class="loading" role="status">
    <span class="spinner" /> {what}…
  </p>
);

export const Empty = ({ title, children }: { title: string; children?: ComponentChildren }) => (
  <div class="empty">
    <p class="empty-title">{title}</p>
    {children}
  </div>
);

export const Card = ({ title, extra, children, class: more = '' }: { title?: ComponentChildren; extra?: ComponentChildren; children: ComponentChildren; class?: string }) => (
  <section class={`card ${more}`}>
    {title && (
      <header class="card-head">
        <h2>{title}</h2>
        {extra}
      </header>
    )}
    {children}
  </section>
);

export const PageHead = ({ title, sub, children }: { title: ComponentChildren; sub?: ComponentChildren; children?: ComponentChildren }) => (
  <header class="page-head">
    <div>
      <h1>{title}</h1>
      {sub && <p class="muted">{sub}</p>}
    </div>
    <div class="actions">{children}</div>
  </header>
);

export const Badge = ({ kind = '', title, children }: { kind?: string; title?: string; children: ComponentChildren }) => (
  <span class={`badge ${kind && `badge-${kind}`}`} title={title}>
    {children}
  </span>
);

export function CopyButton({ text, label = 'Copy' }: { text: string | (() => string); label?: string }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    await copyText(typeof text === 'string' ? text : text());
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  };
  return (
    <button type="button" class="button button-quiet" onClick={copy}>
      <Icon name={done ? 'check' : 'copy'} size={15} /> {done ? 'Copied' : label}
    </button>
  );
}

// The clipboard API needs a secure context; over plain HTTP on another host the old way still works.
async function copyText(text: string) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}

const maxShown = 100_000; // characters; the browser would lay out more for seconds

export function Code({ text, copy = true }: { text: string; copy?: boolean }) {
  return (
    <div class="code">
      <pre tabIndex={0}>{text.length > maxShown ? text.slice(0, maxShown) : text}</pre>
      {text.length > maxShown && <p class="pad muted">The beginning of a text of {count(text.length)} characters. Copy has all of it.</p>}
      {copy && <CopyButton text={text} />}
    </div>
  );
}

export function Tabs<T extends string>({ tabs, current, onChange, label, kind = 'main' }: { tabs: [T, ComponentChildren][]; current: T; onChange: (tab: T) => void; label: string; kind?: 'main' | 'sub' }) {
  const move = (event: TargetedKeyboardEvent<HTMLElement>) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (!step) return;
    const at = tabs.findIndex(([id]) => id === current);
    onChange(tabs[(at + step + tabs.length) % tabs.length][0]);
    const list = event.currentTarget;
    requestAnimationFrame(() => list.querySelector<HTMLElement>('[role=tab][aria-selected=true]')?.focus());
  };
  return (
    <div class={`tabs ${kind === 'sub' ? 'tabs-sub' : ''}`} role="tablist" aria-label={label} onKeyDown={move}>
      {tabs.map(([id, title]) => (
        <button type="button" role="tab" key={id} aria-selected={id === current} tabIndex={id === current ? 0 : -1} onClick={() => onChange(id)}>
          {title}
        </button>
      ))}
    </div>
  );
}

export function Dialog({ title, onClose, children, wide = false }: { title: string; onClose: () => void; children: ComponentChildren; wide?: boolean }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog ref={dialog} class={wide ? 'wide' : ''} onClose={onClose} aria-label={title} onClick={(event) => event.target === dialog.current && dialog.current?.close()}>
      <div class="dialog-body">
        <header class="card-head">
          <h2>{title}</h2>
          <button type="button" class="button button-quiet" aria-label="Close" onClick={() => dialog.current?.close()}>
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}

export function download(name: string, type: string, content: string) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// A plain table of texts for lists that fit on the page.
export function List({ columns, rows, empty }: { columns: { title: string; number?: boolean; wide?: boolean }[]; rows: ComponentChildren[][]; empty: string }) {
  if (rows.length === 0) return <p class="muted pad">{empty}</p>;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={columns.map((c) => c.title).join(', ')}>
      <table class="list">
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.title} class={column.number ? 'number' : ''} scope="col">
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={i}>
              {row.map((cell, j) => (
                <td key={j} class={`${columns[j].number ? 'number' : ''} ${columns[j].wide ? 'wide' : ''}`}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
