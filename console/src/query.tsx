// The query page: editor, plan, results.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ApiError, forgetSchema, loadSchema, post, query } from './api';
import { byteToIndex, complete, statementAt } from './cql';
import { diagnosticsOf, shifted, suggest, type Explained } from './diagnostics';
import { Editor, type EditorHandle } from './editor';
import { History, remember } from './history';
import type { PageProps } from './main';
import { Result, type Run } from './result';
import { keep, kept } from './storage';
import { Empty, ErrorBox, Icon, Tabs, useTitle } from './ui';

const keyOf = (i: number, marker: { name: string }) => `${i} ${marker.name}`;
const textKey = 'sibyl-query';
const consistencies = ['ONE', 'LOCAL_ONE', 'QUORUM', 'LOCAL_QUORUM', 'ALL', 'SERIAL', 'LOCAL_SERIAL'];

const cancel = (id: string) => void post('cancel', { id }).catch(() => {});

function Plan({ explained }: { explained: Explained | undefined }) {
  if (!explained) return <p class="muted pad">The plan of the statement at the cursor appears here as you type.</p>;
  if (explained.error)
    return (
      <div class="pad plan-error">
        <p>{explained.error.message}</p>
        {explained.error.hint && <p class="muted">{explained.error.hint}</p>}
      </div>
    );
  if (explained.pending) return <p class="muted pad">It has a plan when the definitions before it have been run.</p>;
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

export function QueryPage({ route, session }: PageProps) {
  useTitle('Query');
  const given = route.parameters.get('text');
  const initial = useMemo(() => given ?? kept(textKey) ?? '', []);
  const [keyspace, setKeyspace] = useState(route.parameters.get('keyspace') ?? kept('sibyl-keyspace') ?? '');
  const [keyspaces, setKeyspaces] = useState<string[]>([]);
  const [consistency, setConsistency] = useState('ONE');
  const [pageSize, setPageSize] = useState(100);
  const [trace, setTrace] = useState(false);
  const [explained, setExplained] = useState<Explained[]>([]);
  const [cursor, setCursor] = useState(0);
  const [currentText, setCurrentText] = useState(initial);
  const [values, setValues] = useState<Record<string, string | null>>({}); // without an entry: null
  const [runs, setRuns] = useState<Run[]>([]);
  const [shown, setShown] = useState(0);
  const [running, setRunning] = useState<string | null>(null);
  const [failure, setFailure] = useState<Error | null>(null); // of finding the statements
  const [history, setHistory] = useState(false);
  const editor = useRef<EditorHandle | null>(null);
  const timer = useRef(0);
  const abort = useRef<AbortController | null>(null);
  const current = useRef(running);
  current.current = running;
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
  // Nobody would see the result.
  useEffect(() => () => void (current.current && cancel(current.current)), []);
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
        const to = from + byteToIndex(text.slice(from), one.length);
        return { ...one, from, to, text: text.slice(from, to) };
      });
      for (const one of found) if (one.error && !one.error.hint) one.error.hint = await suggest(one.error, space.current);
      setExplained(found);
    } catch {
      // The next change asks again.
    }
  };
  const changed = (text: string) => {
    keep(textKey, text);
    setCurrentText(text);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => explain(text), 250);
  };
  useEffect(() => {
    keep('sibyl-keyspace', keyspace);
    void explain(editor.current?.text() ?? initial);
  }, [keyspace]);
  useEffect(() => editor.current?.check(), [explained, currentText]);

  // A plan is shown while its statement is as it was explained; bind values are kept while it is changed.
  const at = explained.find((one) => cursor >= one.from && cursor <= one.to) ?? explained.at(-1);
  const plan = at && currentText.slice(at.from, at.to) === at.text ? at : undefined;

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

  // The statements of a part of the text.
  const split = async (text: string, { from, to }: { from: number; to: number }) => {
    const answer = await post('explain', { text: text.slice(from, to), keyspace });
    return answer.statements.map((one: Explained) => {
      const start = from + byteToIndex(text.slice(from, to), one.offset);
      return { from: start, to: start + byteToIndex(text.slice(start), one.length) };
    }) as { from: number; to: number }[];
  };

  const run = async (all: boolean) => {
    if (running || !editor.current) return;
    const text = editor.current.text();
    const selection = editor.current.selection();
    setFailure(null);
    const isPart = all || selection.from !== selection.to;
    let pieces = [statementAt(text, selection.from)];
    try {
      if (isPart) pieces = await split(text, all ? { from: 0, to: text.length } : selection);
    } catch (problem) {
      return setFailure(problem as Error);
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
      const result = await fetchPage({ text: statement, keyspace: current, values: markers.map((marker, i) => values[keyOf(i, marker)] ?? null), pages: [], page: 0 }, 0);
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
      if (result.error) {
        showError(result.error, piece, text);
        break;
      }
    }
  };
  // What only running has found is marked in the text as well.
  const showError = (problem: Error, piece: { from: number; to: number }, text: string) => {
    if (!(problem instanceof ApiError) || problem.status !== 400 || editor.current?.text() !== text) return;
    const isSame = (one: Explained) => one.from <= piece.to && one.to >= piece.from;
    const marked: Explained = { ...known.current.find(isSame), offset: 0, length: 0, ...piece, text: text.slice(piece.from, piece.to), error: shifted(problem.body, text.slice(piece.from, piece.to)) };
    setExplained((old) => [...old.filter((one) => !isSame(one)), marked].sort((a, b) => a.from - b.from));
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
          <button type="button" class="button button-danger" onClick={() => cancel(running)}>
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
          <Plan explained={plan} />
        </section>
      </div>
      {at?.markers && at.markers.length > 0 && (
        <fieldset class="binds">
          <legend>Values</legend>
          {at.markers.map((marker, i) => (
            <label key={keyOf(i, marker)}>
              <bdi>{marker.name}</bdi> <span class="muted">{marker.type}</span>
              <input value={values[keyOf(i, marker)] ?? ''} placeholder={(values[keyOf(i, marker)] ?? null) === null ? 'null' : 'empty'} onInput={(event) => setValues({ ...values, [keyOf(i, marker)]: event.currentTarget.value })} />
              <button type="button" class="link" disabled={(values[keyOf(i, marker)] ?? null) === null} title="Bind null" onClick={(event) => (event.preventDefault(), setValues({ ...values, [keyOf(i, marker)]: null }))}>
                null
              </button>
            </label>
          ))}
        </fieldset>
      )}
      <section class="card results" aria-label="Results">
        {runs.length > 1 && <Tabs label="Results" tabs={runs.map((one, i) => [String(i), <span class={one.error ? 'failed' : ''}>{`${i + 1}. ${one.text.slice(0, 24)}`}</span>])} current={String(shown)} onChange={(tab) => setShown(Number(tab))} />}
        {failure && <ErrorBox error={failure} />}
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
        <History
          onPick={(text) => {
            editor.current?.replace(text);
            setHistory(false);
            setTimeout(() => editor.current?.focus());
          }}
          onClose={() => setHistory(false)}
        />
      )}
    </div>
  );
}
