// The result of a statement: rows, their export, and the trace.
import { useState } from 'preact/hooks';
import type { QueryResult, Trace } from './api';
import { micros, plural } from './format';
import { Grid, toCsv, toJson } from './grid';
import { CopyButton, download, Empty, ErrorBox, Notice } from './ui';

export interface Run {
  text: string;
  keyspace: string;
  values: (string | null)[];
  pages: QueryResult[];
  page: number;
  error?: Error;
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

export function Result({ run, busy, onPage }: { run: Run; busy: boolean; onPage: (page: number) => void }) {
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
              <CopyButton text={() => toJson(columns, loaded())} label="Copy JSON" />
              <button type="button" class="button button-quiet" onClick={() => download('result.csv', 'text/csv', toCsv(columns, loaded()))}>
                Save CSV
              </button>
              <button type="button" class="button button-quiet" onClick={() => download('result.json', 'application/json', toJson(columns, loaded()))}>
                Save JSON
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
