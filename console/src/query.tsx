// The query page: editor, plan, results.
import type { Diagnostic } from '@codemirror/lint';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { forgetSchema, loadColumns, loadSchema, post, query, type ApiErrorBody, type QueryResult, type Trace } from './api';
import { byteToIndex, complete, nearest, statementAt } from './cql';
import { Editor, type EditorHandle } from './editor';
import { micros, name, plural } from './format';
import { Grid, toCsv, toJson } from './grid';
import type { PageProps } from './main';
import { CopyButton, Dialog, download, Empty, ErrorBox, Icon, Notice, Tabs, useTitle } from './ui';

interface Explained {
  offset: number;
  length: number;
  steps?: (string | null)[][];
  markers?: { name: string; type: string }[];
  error?: ApiErrorBody;
  from: number; // in the editor
  to: number;
}

interface Run {
  text: string;
  keyspace: string;
  values: (string | null)[];
  pages: QueryResult[];
  page: number;
  error?: Error;
}

const textKey = 'sibyl-query';
const historyKey = 'sibyl-history';
const maxHistory = 100;
const consistencies = ['ONE', 'LOCAL_ONE', 'QUORUM', 'LOCAL_QUORUM', 'ALL', 'SERIAL', 'LOCAL_SERIAL'];

const readHistory = (): string[] => {
  try {
    return JSON.parse(localStorage.getItem(historyKey) ?? '[]');
  } catch {
    return [];
  }
};
function remember(text: string) {
  const all = [text, ...readHistory().filter((one) => one !== text)].slice(0, maxHistory);
  localStorage.setItem(historyKey, JSON.stringify(all));
}

// The change of the text that a hint suggests.
function fixesOf(error: ApiErrorBody, from: number, to: number): Diagnostic['actions'] {
  const better = error.hint.match(/did you mean '?"?([\w.]+)"?'?\?/);
  if (better)
    return [{ name: `Replace with ${better[1]}`, apply: (view, a, b) => view.dispatch({ changes: { from: a, to: b, insert: better[1] } }) }];
  if (/ALLOW FILTERING/.test(error.message))
    return [
      {
        name: 'Add ALLOW FILTERING',
        apply: (view) => {
          const text = view.state.sliceDoc(from, to);
          const end = from + text.replace(/[\s;]+$/, '').length;
          view.dispatch({ changes: { from: end, insert: ' ALLOW FILTERING' } });
        },
      },
    ];
  return [];
}

// The name of the schema nearest to the one that an error reports as unknown.
async function suggest(error: ApiErrorBody, keyspace: string): Promise<string> {
  const column = error.message.match(/Undefined column name "?([^\s"]+)"? in table (\w+)\.(\w+)/);
  const table = error.message.match(/^(?:unconfigured table|table) "?(\w+)"?(?: does not exist)?/i);
  const better = column
    ? nearest(column[1], (await loadColumns(column[2], column[3]).catch(() => [])).map((one) => one.name))
    : table
      ? nearest(table[1], (await loadSchema().catch(() => [])).find((one) => one.name === keyspace)?.tables ?? [])
      : '';
  return better ? `did you mean ${name(better)}?` : '';
}

function diagnosticsOf(text: string, explained: Explained[]): Diagnostic[] {
  const found: Diagnostic[] = [];
  for (const one of explained) {
    if (!one.error || one.to > text.length) continue;
    const statement = text.slice(one.from, one.to);
    let from = one.from;
    let to = one.to;
    if (one.error.position) {
      from = Math.min(one.from + byteToIndex(statement, one.error.position.offset), one.to);
      to = from + (text.slice(from, one.to).match(/^("(?:[^"]|"")*"|'(?:[^']|'')*'|\w+|.)/)?.[0].length ?? 0);
      if (to === from && from > one.from) --from;
    } else {
      // Without a position: the name that the message quotes, or the first word.
      const quoted = one.error.message.match(/(?:name|column|table|keyspace|type|object)\s+'?"?([\w]+)/i)?.[1];
      const at = quoted ? statement.search(new RegExp(`\\b${quoted}\\b`, 'i')) : -1;
      const lead = statement.length - statement.trimStart().length;
      from = one.from + (at >= 0 ? at : lead);
      to = from + (at >= 0 ? quoted!.length : (statement.slice(lead).match(/^\S+/)?.[0].length ?? 0));
    }
    found.push({ from, to, severity: 'error', message: one.error.message + (one.error.hint ? `\n${one.error.hint}` : ''), actions: fixesOf(one.error, one.from, one.to) });
  }
  return found;
}

function Plan({ explained }: { explained: Explained | undefined }) {
  if (!explained) return <p class="muted pad">The plan of the statement at the cursor appears here as you type.</p>;
  if (explained.error)
    return (
      <div class="pad plan-error">
        <p>{explained.error.message}</p>
        {explained.error.hint && <p class="muted">{explained.error.hint}</p>}
      </div>
    );
  if (!explained.steps) return <p class="muted pad">This statement reads and writes no rows.</p>;
  return (
    <ol class="plan">
      {explained.steps.map((step, i) => {
        const [, action, target, partitions, rows, detail] = step;
        return (
          <li key={i} class={action === 'warning' ? 'plan-warning' : ''}>
            <p>
              <strong>{action}</strong> {target && <bdi class="mono">{target}</bdi>}
              {partitions && <span class={`badge ${partitions === 'all' ? 'badge-warning' : ''}`}>partitions: {partitions}</span>}
              {rows && rows !== 'all' && <span class="badge">rows: {rows}</span>}
            </p>
            {detail && <p class="muted">{detail}</p>}
          </li>
        );
      })}
    </ol>
  );
}

function Waterfall({ trace }: { trace: Trace }) {
  const total = Math.max(trace.duration_us, 1);
  return (
    <div class="waterfall">
      <p class="muted">
        {micros(trace.duration_us)} · <span class="mono">{trace.id}</span>
      </p>
      <ol>
        {trace.steps.map((step, i) => {
          const next = trace.steps[i + 1]?.elapsed_us ?? trace.duration_us;
          return (
            <li key={i}>
              <span class="trace-text">{step.activity}</span>
              <span class="trace-bar">
                <i style={{ left: `${(100 * step.elapsed_us) / total}%`, width: `${Math.max(0.5, (100 * (next - step.elapsed_us)) / total)}%` }} />
              </span>
              <span class="trace-time">{micros(step.elapsed_us)}</span>
            </li>
          );
        })}
      </ol>
    </div>
  );
}

function Result({ run, busy, onPage }: { run: Run; busy: boolean; onPage: (page: number) => void }) {
  const [view, setView] = useState<'rows' | 'trace'>('rows');
  if (run.error) return <ErrorBox error={run.error} />;
  const result = run.pages[run.page];
  if (!result) return null;
  const columns = result.columns ?? [];
  const rows = result.rows ?? [];
  const loaded = () => run.pages.flatMap((page) => page.rows ?? []);
  return (
    <>
      {result.warnings.map((warning, i) => (
        <Notice key={i} kind="warning">
          {warning}
        </Notice>
      ))}
      <div class="result-bar">
        <span class="muted" role="status">
          {result.kind === 'rows' ? plural(rows.length, 'row') : result.kind === 'schema_change' ? 'The schema has changed' : result.kind === 'set_keyspace' ? `Now in keyspace ${result.keyspace}` : 'Done'}
          {' · '}
          {micros(result.elapsed_us)}
          {result.kind === 'rows' && ` · read ${plural(result.partitions_read, 'partition')}, ${plural(result.rows_read, 'row')}`}
          {result.tombstones_read > 0 && `, ${plural(result.tombstones_read, 'tombstone')}`}
        </span>
        <span class="actions">
          {result.trace && (
            <button type="button" class="button button-quiet" aria-pressed={view === 'trace'} onClick={() => setView(view === 'rows' ? 'trace' : 'rows')}>
              {view === 'rows' ? 'Trace' : 'Rows'}
            </button>
          )}
          {result.kind === 'rows' && (
            <>
              <CopyButton text={() => toCsv(columns, loaded())} label="Copy CSV" />
              <button type="button" class="button button-quiet" onClick={() => download('result.csv', 'text/csv', toCsv(columns, loaded()))}>
                CSV
              </button>
              <button type="button" class="button button-quiet" onClick={() => download('result.json', 'application/json', toJson(columns, loaded()))}>
                JSON
              </button>
            </>
          )}
          {(run.page > 0 || run.pages.length > 1 || result.paging_state) && (
            <span class="pager">
              <button type="button" class="button" disabled={run.page === 0 || busy} onClick={() => onPage(run.page - 1)}>
                Previous
              </button>
              <span>Page {run.page + 1}</span>
              <button type="button" class="button" disabled={busy || (!run.pages[run.page + 1] && !result.paging_state)} onClick={() => onPage(run.page + 1)}>
                Next
              </button>
            </span>
          )}
        </span>
      </div>
      {view === 'trace' && result.trace ? (
        <Waterfall trace={result.trace} />
      ) : result.kind !== 'rows' ? null : rows.length === 0 ? (
        <Empty title="No rows">
          <p>The statement matched nothing.</p>
        </Empty>
      ) : (
        <Grid columns={columns} rows={rows} label="Rows" />
      )}
    </>
  );
}

export function QueryPage({ route, session }: PageProps) {
  useTitle('Query');
  const given = route.parameters.get('text');
  const initial = useMemo(() => given ?? localStorage.getItem(textKey) ?? '', []);
  const [keyspace, setKeyspace] = useState(route.parameters.get('keyspace') ?? localStorage.getItem('sibyl-keyspace') ?? '');
  const [keyspaces, setKeyspaces] = useState<string[]>([]);
  const [consistency, setConsistency] = useState('ONE');
  const [pageSize, setPageSize] = useState(100);
  const [trace, setTrace] = useState(false);
  const [explained, setExplained] = useState<Explained[]>([]);
  const [cursor, setCursor] = useState(0);
  const [values, setValues] = useState<Record<string, string>>({});
  const [runs, setRuns] = useState<Run[]>([]);
  const [shown, setShown] = useState(0);
  const [running, setRunning] = useState<string | null>(null);
  const [history, setHistory] = useState(false);
  const editor = useRef<EditorHandle | null>(null);
  const timer = useRef(0);
  const abort = useRef<AbortController | null>(null);
  const space = useRef(keyspace);
  space.current = keyspace;
  const known = useRef<Explained[]>([]);
  known.current = explained;
  const completions = useMemo(() => complete(() => space.current), []);

  useEffect(() => {
    loadSchema().then((all) => {
      const names = all.map((one) => one.name);
      setKeyspaces(names);
      setKeyspace((old) => (names.includes(old) ? old : (all.find((one) => !one.system)?.name ?? '')));
    }, () => {});
  }, []);
  useEffect(() => {
    if (given !== null && editor.current && editor.current.text() !== given) editor.current.replace(given);
  }, [given]);

  const explain = async (text: string) => {
    abort.current?.abort();
    abort.current = new AbortController();
    if (!text.trim()) return setExplained([]);
    try {
      const answer = await post('explain', { text, keyspace: space.current }, abort.current.signal);
      const found: Explained[] = answer.statements.map((one: Explained) => {
        const from = byteToIndex(text, one.offset);
        return { ...one, from, to: from + byteToIndex(text.slice(from), one.length) };
      });
      for (const one of found) if (one.error && !one.error.hint) one.error.hint = await suggest(one.error, space.current);
      setExplained(found);
    } catch {
      // The next change asks again.
    }
  };
  const changed = (text: string) => {
    localStorage.setItem(textKey, text);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => explain(text), 250);
  };
  useEffect(() => {
    localStorage.setItem('sibyl-keyspace', keyspace);
    void explain(editor.current?.text() ?? initial);
  }, [keyspace]);
  useEffect(() => editor.current?.check(), [explained]);

  const at = explained.find((one) => cursor >= one.from && cursor <= one.to) ?? explained.at(-1);

  const fetchPage = async (run: Run, page: number): Promise<Run> => {
    const id = crypto.getRandomValues(new Uint32Array(2)).join('-');
    setRunning(id);
    try {
      const result = await query({
        text: run.text,
        keyspace: run.keyspace,
        values: run.values,
        consistency,
        page_size: pageSize,
        trace,
        id,
        paging_state: page > 0 ? run.pages[page - 1].paging_state : undefined,
      });
      return { ...run, pages: [...run.pages.slice(0, page), result], page };
    } catch (problem) {
      return { ...run, error: problem as Error };
    } finally {
      setRunning(null);
    }
  };

  const run = async (all: boolean) => {
    if (running || !editor.current) return;
    const text = editor.current.text();
    const selection = editor.current.selection();
    let pieces: { from: number; to: number }[];
    if (all || selection.from !== selection.to) {
      const [from, to] = all ? [0, text.length] : [selection.from, selection.to];
      const answer = await post('explain', { text: text.slice(from, to), keyspace });
      pieces = answer.statements.map((one: Explained) => {
        const start = from + byteToIndex(text.slice(from, to), one.offset);
        return { from: start, to: start + byteToIndex(text.slice(start), one.length) };
      });
    } else {
      pieces = [statementAt(text, selection.from)];
    }
    let current = keyspace;
    const done: Run[] = [];
    setRuns([]);
    setShown(0);
    for (const piece of pieces) {
      const statement = text.slice(piece.from, piece.to).trim();
      if (!statement) continue;
      const markers = known.current.find((one) => one.from <= piece.to && one.to >= piece.to - 1)?.markers ?? [];
      remember(statement);
      const result = await fetchPage({ text: statement, keyspace: current, values: markers.map((marker, i) => values[`${i} ${marker.name}`] ?? null), pages: [], page: 0 }, 0);
      done.push(result);
      setRuns([...done]);
      setShown(done.length - 1);
      const answer = result.pages[0];
      if (answer?.kind === 'set_keyspace') setKeyspace((current = answer.keyspace!));
      if (answer?.kind === 'schema_change') {
        forgetSchema();
        loadSchema().then((schema) => setKeyspaces(schema.map((one) => one.name)), () => {});
        void explain(text);
      }
      if (result.error) break;
    }
  };
  const turn = async (page: number) => {
    const old = runs[shown];
    const next = old.pages[page] ? { ...old, page } : await fetchPage(old, page);
    setRuns(runs.map((one, i) => (i === shown ? next : one)));
  };

  return (
    <div class="query">
      <h1 class="visually-hidden">Query</h1>
      <div class="toolbar">
        {running ? (
          <button type="button" class="button button-danger" onClick={() => post('cancel', { id: running }).catch(() => {})}>
            <Icon name="stop" size={15} /> Cancel
          </button>
        ) : (
          <button type="button" class="button button-primary" onClick={() => run(false)} title="Ctrl+Enter: the statement at the cursor, or the selection">
            <Icon name="play" size={15} /> Run
          </button>
        )}
        <button type="button" class="button" disabled={running !== null} onClick={() => run(true)} title="Ctrl+Shift+Enter">
          Run all
        </button>
        <label>
          Keyspace
          <select aria-label="Keyspace" value={keyspace} onChange={(event) => setKeyspace(event.currentTarget.value)}>
            <option value="">none</option>
            {keyspaces.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <label>
          Consistency
          <select aria-label="Consistency" value={consistency} onChange={(event) => setConsistency(event.currentTarget.value)}>
            {consistencies.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <label>
          Page
          <select aria-label="Rows per page" value={pageSize} onChange={(event) => setPageSize(Number(event.currentTarget.value))}>
            {[20, 100, 500, 1000].map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <label class="check">
          <input type="checkbox" checked={trace} onChange={(event) => setTrace(event.currentTarget.checked)} /> Trace
        </label>
        <button type="button" class="button button-quiet" onClick={() => setHistory(true)}>
          History
        </button>
        {session.read_only && <span class="badge badge-warning">read-only</span>}
      </div>
      <div class="query-top">
        <section class="card editor" aria-label="Editor">
          <Editor
            initial={initial}
            label="CQL"
            handle={editor}
            onChange={changed}
            onMove={setCursor}
            onRun={run}
            completions={completions}
            diagnostics={() => diagnosticsOf(editor.current?.text() ?? '', known.current)}
          />
        </section>
        <section class="card side-plan" aria-label="Plan" aria-live="polite">
          <header class="card-head">
            <h2>Plan</h2>
          </header>
          <Plan explained={at} />
        </section>
      </div>
      {at?.markers && at.markers.length > 0 && (
        <fieldset class="binds">
          <legend>Values</legend>
          {at.markers.map((marker, i) => (
            <label key={`${i} ${marker.name}`}>
              <bdi>{marker.name}</bdi> <span class="muted">{marker.type}</span>
              <input value={values[`${i} ${marker.name}`] ?? ''} placeholder="null" onInput={(event) => setValues({ ...values, [`${i} ${marker.name}`]: event.currentTarget.value })} />
            </label>
          ))}
        </fieldset>
      )}
      <section class="card results" aria-label="Results">
        {runs.length > 1 && <Tabs label="Results" tabs={runs.map((one, i) => [String(i), <span class={one.error ? 'failed' : ''}>{`${i + 1}. ${one.text.slice(0, 24)}`}</span>])} current={String(shown)} onChange={(tab) => setShown(Number(tab))} />}
        {runs[shown] ? (
          <Result key={shown} run={runs[shown]} busy={running !== null} onPage={turn} />
        ) : (
          <Empty title={running ? 'Running…' : 'No results yet'}>
            <p>
              <kbd>Ctrl</kbd> <kbd>Enter</kbd> runs the statement at the cursor.
            </p>
          </Empty>
        )}
      </section>
      {history && (
        <Dialog title="History" onClose={() => setHistory(false)} wide>
          {readHistory().length === 0 && <p class="muted">Statements that you run are kept here, in this browser only.</p>}
          <ul class="history">
            {readHistory().map((one, i) => (
              <li key={i}>
                <button
                  type="button"
                  class="mono"
                  onClick={() => {
                    editor.current?.replace(one);
                    setHistory(false);
                    setTimeout(() => editor.current?.focus());
                  }}
                >
                  {one.length > 400 ? `${one.slice(0, 400)}…` : one}
                </button>
              </li>
            ))}
          </ul>
          <button type="button" class="button button-quiet" onClick={() => (localStorage.removeItem(historyKey), setHistory(false))}>
            Clear
          </button>
        </Dialog>
      )}
    </div>
  );
}
