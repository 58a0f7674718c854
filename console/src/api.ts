// Requests to the server's JSON API (docs/console-api.md).

export interface ApiErrorBody {
  code: number;
  name: string;
  message: string;
  hint: string;
  position: { line: number; column: number; offset: number } | null;
}

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly body: ApiErrorBody,
  ) {
    super(body.message);
  }
}

export interface Session {
  login_required: boolean;
  version: string;
  cassandra: string;
  read_only: boolean;
  cluster: boolean;
  role: string | null;
  csrf: string | null;
}

// True if there was no answer, so that the page's frame says that it waits for the server.
export const isCut = (error: Error | null) => error instanceof ApiError && error.status === 0;

let csrf = '';
let onLoggedOut = () => {};

// Whether the server answers. While it does not, it is asked every two seconds.
let reachable = true;
const watchers = new Set<() => void>();

export const isReachable = () => reachable;
// Calls back when the server stops and starts to answer. Returns the function that ends this.
export function watchReachable(callback: () => void): () => void {
  watchers.add(callback);
  return () => void watchers.delete(callback);
}

function setReachable(now: boolean) {
  if (reachable === now) return;
  reachable = now;
  if (!now) setTimeout(askAgain, 2000);
  watchers.forEach((callback) => callback());
}

async function askAgain() {
  const answers = await fetch('/api/v1/session').then((answer) => answer.ok, () => false);
  if (answers) setReachable(true);
  else setTimeout(askAgain, 2000);
}

export function setSession(session: Session) {
  csrf = session.csrf ?? '';
}

export function whenLoggedOut(callback: () => void) {
  onLoggedOut = callback;
}

// A server that was restarted has new tokens. It has refused such a request without running it.
const isStale = (status: number, error?: ApiErrorBody) => status === 403 && error?.message.includes('X-Sibyl-CSRF');

// True if there is another token than the one that was refused. Another request may have fetched it already.
async function hasNewToken(refused: string): Promise<boolean> {
  if (csrf === refused) setSession(await loadSession());
  return csrf !== '' && csrf !== refused;
}

async function send(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<any> {
  let response: Response;
  const token = csrf;
  try {
    response = await fetch(`/api/v1/${path}`, {
      method,
      headers: { 'X-Sibyl-CSRF': token, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
    });
  } catch (problem) {
    if ((problem as Error).name === 'AbortError') throw problem;
    setReachable(false);
    throw new ApiError(0, { code: 0, name: 'Unreachable', message: 'The server does not answer', hint: 'The page goes on when it does.', position: null });
  }
  setReachable(true);
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  if (isStale(response.status, answer.error) && (await hasNewToken(token))) return send(method, path, body, signal);
  if (response.status === 401) onLoggedOut();
  throw new ApiError(response.status, answer.error ?? { code: 0, name: 'Error', message: `The server answered with status ${response.status}`, hint: '', position: null });
}

export const get = (path: string, parameters: Record<string, string | number> = {}, signal?: AbortSignal) => {
  const query = new URLSearchParams(Object.entries(parameters).map(([k, v]) => [k, String(v)])).toString();
  return send('GET', query ? `${path}?${query}` : path, undefined, signal);
};
export const post = (path: string, body: unknown, signal?: AbortSignal) => send('POST', path, body, signal);

export const loadSession = (): Promise<Session> => send('GET', 'session');
export const logIn = (role: string, password: string): Promise<Session> => send('POST', 'session', { role, password });
export const logOut = (): Promise<Session> => send('DELETE', 'session');

export interface Column {
  name: string;
  type: string;
  keyspace: string;
  table: string;
}
export type Cell = null | string | { text: string; json?: string; bytes?: number };
export interface QueryResult {
  kind: 'rows' | 'nothing' | 'set_keyspace' | 'schema_change';
  columns?: Column[];
  rows?: Cell[][];
  paging_state?: string | null;
  keyspace?: string;
  warnings: string[];
  elapsed_us: number;
  partitions_read: number;
  rows_read: number;
  tombstones_read: number;
  trace?: Trace;
}
export interface Trace {
  id: string;
  duration_us: number;
  steps: { activity: string; thread: string; elapsed_us: number }[];
}
export interface QueryOptions {
  text: string;
  keyspace?: string;
  page_size?: number;
  paging_state?: string | null;
  consistency?: string;
  values?: (string | null)[];
  trace?: boolean;
  id?: string;
}
export const query = (options: QueryOptions, signal?: AbortSignal): Promise<QueryResult> => post('query', options, signal);

export interface KeyspaceNode {
  name: string;
  system: boolean;
  tables: string[];
  views: { name: string; table: string }[];
  indexes: { name: string; table: string }[];
  types: string[];
  functions: string[];
  aggregates: string[];
}

// The schema, shared by the pages. `fresh` asks the server again.
let schemaCache: Promise<KeyspaceNode[]> | null = null;
export function loadSchema(fresh = false): Promise<KeyspaceNode[]> {
  if (fresh || !schemaCache) {
    schemaCache = get('schema').then((answer) => answer.keyspaces);
    schemaCache.catch(() => (schemaCache = null));
  }
  return schemaCache;
}

export interface TableColumn {
  name: string;
  type: string;
  kind: 'partition_key' | 'clustering' | 'static' | 'regular';
  position: number;
  descending: boolean;
  masked: boolean;
  indexes: string[];
}
const columnCache = new Map<string, Promise<TableColumn[]>>();
export function loadColumns(keyspace: string, table: string): Promise<TableColumn[]> {
  const key = JSON.stringify([keyspace, table]);
  let columns = columnCache.get(key);
  if (!columns) {
    columns = get('table', { keyspace, table, brief: 1 }).then((answer) => answer.columns);
    columns.catch(() => columnCache.delete(key));
    columnCache.set(key, columns);
  }
  return columns;
}
export function forgetSchema() {
  schemaCache = null;
  columnCache.clear();
}
