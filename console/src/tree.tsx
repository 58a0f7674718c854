// The tree of the schema. Only the rows in view are in the page, so 5,000 tables are as fast as 50.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { TargetedKeyboardEvent } from 'preact';
import type { KeyspaceNode } from './api';
import { count } from './format';
import { go, link } from './router';
import { Icon } from './ui';

interface Row {
  id: string;
  level: number;
  label: string;
  icon?: string;
  to?: string[]; // the page that it opens
  open?: boolean; // of rows with children
  children?: number;
  muted?: boolean;
}

const rowHeight = 28; // as in style.css
const overscan = 10; // rows above and below the view
const systemId = '';

function itemsOf(keyspace: KeyspaceNode, level: number): Row[] {
  const rows = (kind: string, names: string[], icon = kind): Row[] =>
    names.map((name) => ({
      id: `${keyspace.name}/${kind}/${name}`,
      level,
      label: name,
      icon,
      to: kind === 'table' || kind === 'view' ? ['table', keyspace.name, name] : ['schema', keyspace.name, kind, name],
    }));
  return [
    ...rows('table', keyspace.tables),
    ...rows('view', keyspace.views.map((view) => view.name)),
    ...rows('index', keyspace.indexes.map((index) => index.name)),
    ...rows('type', keyspace.types),
    ...rows('function', keyspace.functions),
    ...rows('aggregate', keyspace.aggregates, 'function'),
  ];
}

// A search opens every keyspace that has a match, and leaves out the others.
function branchOf(keyspace: KeyspaceNode, level: number, search: string, isOpen: (id: string) => boolean): Row[] {
  const all = itemsOf(keyspace, level + 1);
  const found = search ? all.filter((row) => row.label.toLowerCase().includes(search)) : all;
  if (search && found.length === 0 && !keyspace.name.toLowerCase().includes(search)) return [];
  const open = search !== '' || isOpen(keyspace.name);
  const head: Row = { id: keyspace.name, level, label: keyspace.name, open, children: found.length };
  const diagram: Row = { id: `${keyspace.name}/`, level: level + 1, label: keyspace.system ? 'About' : 'Diagram and definition', icon: 'schema', to: ['schema', keyspace.name], muted: true };
  return open ? [head, diagram, ...found] : [head];
}

function rowsOf(keyspaces: KeyspaceNode[], search: string, isOpen: (id: string) => boolean): Row[] {
  const branches = (system: boolean, level: number) => keyspaces.filter((one) => one.system === system).flatMap((one) => branchOf(one, level, search, isOpen));
  const system = branches(true, 2);
  const open = isOpen(systemId) || search !== '';
  const rows = branches(false, 1);
  if (system.length === 0) return rows;
  return [...rows, { id: systemId, level: 1, label: 'System', open, children: keyspaces.filter((one) => one.system).length, muted: true }, ...(open ? system : [])];
}

const isShown = (row: Row, current: string[]) => row.to !== undefined && row.to.length === current.length && row.to.every((part, i) => part === current[i]);

function RowView({ row, isCurrent, onToggle }: { row: Row; isCurrent: boolean; onToggle: (id: string) => void }) {
  const label = (
    <>
      {row.open !== undefined && <Icon name="chevron" size={13} />}
      {row.icon && <Icon name={row.icon} size={15} />}
      <bdi class={row.muted ? 'muted' : ''}>{row.label}</bdi>
      {row.children !== undefined && <span class="count">{count(row.children)}</span>}
    </>
  );
  const indent = { paddingLeft: `${6 + (row.level - 1) * 14}px` };
  return row.to ? (
    <a href={link(row.to)} style={indent} title={row.label} data-row={row.id} aria-current={isCurrent ? 'page' : undefined}>
      {label}
    </a>
  ) : (
    <button type="button" style={indent} title={row.label} data-row={row.id} aria-expanded={row.open} onClick={() => onToggle(row.id)}>
      {label}
    </button>
  );
}

// Arrows move the focus between rows, and open and close keyspaces.
function moveFocus(event: TargetedKeyboardEvent<HTMLElement>, rows: Row[], focus: (at: number) => void, toggle: (id: string) => void) {
  const at = rows.findIndex((row) => row.id === (event.target as HTMLElement).dataset.row);
  const row = rows[at];
  if (!row || event.ctrlKey || event.altKey || event.metaKey) return;
  const parent = () => rows.findLastIndex((one, i) => i < at && one.level < row.level);
  const targets: Record<string, () => void> = {
    ArrowDown: () => focus(Math.min(at + 1, rows.length - 1)),
    ArrowUp: () => focus(Math.max(at - 1, 0)),
    Home: () => focus(0),
    End: () => focus(rows.length - 1),
    ArrowRight: () => (row.open === false ? toggle(row.id) : row.open && focus(at + 1)),
    ArrowLeft: () => (row.open ? toggle(row.id) : parent() >= 0 && focus(parent())),
  };
  if (!targets[event.key]) return;
  event.preventDefault();
  targets[event.key]();
}

export function Tree({ keyspaces, current }: { keyspaces: KeyspaceNode[]; current: string[] }) {
  const [search, setSearch] = useState('');
  const users = keyspaces.filter((one) => !one.system);
  const [toggled, setToggled] = useState<Record<string, boolean>>({});
  const isOpen = (id: string) => toggled[id] ?? (id !== systemId && (id === current[1] || (users.length === 1 && users[0].name === id)));
  const wanted = search.trim().toLowerCase();
  const rows = useMemo(() => rowsOf(keyspaces, wanted, isOpen), [keyspaces, wanted, toggled, current[1]]);
  const view = useRef<HTMLDivElement>(null);
  const [scroll, setScroll] = useState({ top: 0, height: window.innerHeight });
  const pending = useRef<string | null>(null); // the row that gets the focus when it is in the page

  const measure = () => view.current && setScroll({ top: view.current.scrollTop, height: view.current.clientHeight });
  const reveal = (at: number) => {
    const element = view.current;
    if (!element || at < 0) return;
    const top = at * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + element.clientHeight) element.scrollTop = top + rowHeight - element.clientHeight;
    measure();
  };
  const focus = (at: number) => {
    pending.current = rows[at].id;
    reveal(at);
  };
  const toggle = (id: string) => setToggled({ ...toggled, [id]: !isOpen(id) });
  useEffect(() => {
    addEventListener('resize', measure);
    return () => removeEventListener('resize', measure);
  }, []);
  useEffect(() => {
    if (view.current) view.current.scrollTop = 0;
    measure();
  }, [wanted]);
  useEffect(() => reveal(rows.findIndex((row) => isShown(row, current))), [current.join('/')]);
  useLayoutEffect(() => {
    const element = pending.current !== null && view.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(pending.current)}"]`);
    if (!element) return;
    pending.current = null;
    element.focus({ preventScroll: true });
  });

  const first = Math.max(0, Math.floor(scroll.top / rowHeight) - overscan);
  const shown = rows.slice(first, Math.ceil((scroll.top + scroll.height) / rowHeight) + overscan);
  const onSearchKey = (event: TargetedKeyboardEvent<HTMLInputElement>) => {
    const found = wanted ? rows.find((row) => row.to && row.icon !== 'schema') : undefined;
    if (event.key === 'Enter' && found) go(found.to!);
    if (event.key === 'ArrowDown' && rows.length > 0) {
      event.preventDefault();
      focus(0);
    }
  };
  return (
    <nav class="card tree-card" aria-label="Schema">
      <input type="search" placeholder="Search tables, types, …" aria-label="Search the schema" value={search} onInput={(event) => setSearch(event.currentTarget.value)} onKeyDown={onSearchKey} />
      {users.length === 0 && <p class="muted pad">No keyspaces yet</p>}
      {wanted && rows.length === 0 && <p class="muted pad">Nothing is named like this</p>}
      <div class="tree" ref={view} onScroll={measure} onKeyDown={(event) => moveFocus(event, rows, focus, toggle)}>
        <ul style={{ height: `${rows.length * rowHeight}px`, paddingTop: `${first * rowHeight}px` }}>
          {shown.map((row, i) => (
            <li key={row.id} aria-setsize={rows.length} aria-posinset={first + i + 1}>
              <RowView row={row} isCurrent={isShown(row, current)} onToggle={toggle} />
            </li>
          ))}
        </ul>
      </div>
    </nav>
  );
}
