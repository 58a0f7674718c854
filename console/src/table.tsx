// One table: columns, numbers, rows, layout of partitions, statements.
import { useState } from 'preact/hooks';
import { get, query, type QueryResult, type TableColumn } from './api';
import { bytes, count, micros, name, percent, plural } from './format';
import { Grid } from './grid';
import { LayoutTab } from './layout';
import type { PageProps } from './main';
import { go, link } from './router';
import { Badge, Card, Code, Empty, ErrorBox, Icon, List, Loading, PageHead, Tabs, useLoad, usePolling, useTitle } from './ui';

interface HotPartition {
  kind: 'read' | 'write';
  rank: number;
  partition_key: string;
  count: number;
  share: number;
}
export interface Table {
  keyspace: string;
  name: string;
  view_of: string | null;
  virtual: boolean;
  counter: boolean;
  comment: string;
  columns: TableColumn[];
  readable: boolean;
  ddl?: string;
  statistics?: Record<string, any> | null;
  hot_partitions?: HotPartition[];
  queries?: Record<string, any>[];
}

function Keys({ column }: { column: TableColumn }) {
  return (
    <>
      {column.kind === 'partition_key' && (
        <Badge kind="accent" title="Partition key">
          <Icon name="key" size={12} /> K{column.position > 0 ? column.position + 1 : ''}
        </Badge>
      )}
      {column.kind === 'clustering' && (
        <Badge kind="accent" title={`Clustering column, ${column.descending ? 'descending' : 'ascending'}`}>
          C{column.descending ? '↓' : '↑'}
        </Badge>
      )}
      {column.kind === 'static' && <Badge title="One value per partition">S static</Badge>}
      {column.indexes.map((index) => (
        <Badge key={index} kind="ok" title={`Index ${index}`}>
          IDX
        </Badge>
      ))}
      {column.masked && <Badge kind="warning">masked</Badge>}
    </>
  );
}

// p50 to the largest on a logarithmic scale.
function Sizes({ statistics, unit, format }: { statistics: Record<string, any>; unit: 'rows' | 'bytes'; format: (value: number) => string }) {
  const parts = ['p50', 'p90', 'p99', 'max'].map((part) => [part, statistics[`partition_${unit}_${part}`] as number | null] as const);
  const largest = Math.max(1, ...parts.map(([, value]) => value ?? 0));
  return (
    <div class="sizes">
      {parts.map(([part, value]) => (
        <>
          <span class="muted">{part === 'max' ? 'largest' : part}</span>
          <span class="bar">
            <i style={{ width: `${value ? Math.max(2, (100 * Math.log1p(value)) / Math.log1p(largest)) : 0}%` }} />
          </span>
          <span class="number">{value === null ? '–' : format(value)}</span>
        </>
      ))}
    </div>
  );
}

function Hot({ partitions, kind, onOpen }: { partitions: HotPartition[]; kind: 'read' | 'write'; onOpen: (key: string) => void }) {
  const rows = partitions.filter((one) => one.kind === kind && one.count > 0).sort((a, b) => a.rank - b.rank);
  return (
    <List
      empty={`No ${kind} has named a partition yet`}
      columns={[{ title: 'Partition' }, { title: kind === 'read' ? 'Reads' : 'Writes', number: true }, { title: 'Share' }]}
      rows={rows.map((one) => [
        <button type="button" class="link mono" onClick={() => onOpen(one.partition_key)} title="Show its layout">
          <bdi>{one.partition_key}</bdi>
        </button>,
        count(one.count),
        <>
          <span class="share">
            <i style={{ width: `${Math.min(100, 100 * one.share)}%` }} />
          </span>
          {percent(one.share)}
        </>,
      ])}
    />
  );
}

function Shape({ table, onOpen }: { table: Table; onOpen: (key: string) => void }) {
  const numbers = table.statistics;
  return (
    <>
      {numbers && (
        <div class="stats">
          {(
            [
              ['Partitions', count(numbers.partitions), ''],
              ['Rows', count(numbers.rows), ''],
              ['Data', bytes(numbers.bytes), 'before compression'],
              ['Reads', count(numbers.reads), ''],
              ['Writes', count(numbers.writes), ''],
              ['Tombstones', count(numbers.tombstones_per_read_p99), 'per read, p99'],
            ] as const
          ).map(([label, value, sub]) => (
            <div class="stat" key={label}>
              <span class="stat-label">{label}</span>
              <span class="stat-value">{value}</span>
              <span class="stat-sub">{sub || '\u00a0'}</span>
            </div>
          ))}
        </div>
      )}
      <Card title="Columns">
        <List
          empty=""
          columns={[{ title: 'Name' }, { title: 'Type' }, { title: 'Key' }]}
          rows={table.columns.slice(0, 500).map((column) => [<bdi class="mono">{column.name}</bdi>, <span class="mono muted">{column.type}</span>, <Keys column={column} />])}
        />
        {table.columns.length > 500 && <p class="pad muted">The first 500 of {count(table.columns.length)} columns. The definition has all.</p>}
      </Card>
      {!table.readable && <Empty title="You may not read this table">Its numbers, samples and rows need the permission SELECT.</Empty>}
      {numbers && (
        <div class="columns-2">
          <Card title="Size of partitions">
            <div class="card-body">
              <Sizes statistics={numbers} unit="bytes" format={bytes} />
            </div>
          </Card>
          <Card title="Rows of partitions">
            <div class="card-body">
              <Sizes statistics={numbers} unit="rows" format={count} />
            </div>
          </Card>
          <Card title="Read most">
            <Hot partitions={table.hot_partitions ?? []} kind="read" onOpen={onOpen} />
          </Card>
          <Card title="Written most">
            <Hot partitions={table.hot_partitions ?? []} kind="write" onOpen={onOpen} />
          </Card>
        </div>
      )}
    </>
  );
}

function Data({ table }: { table: Table }) {
  const [pages, setPages] = useState<QueryResult[]>([]);
  const [page, setPage] = useState(0);
  const [error, setError] = useState<Error | null>(null);
  const text = `SELECT * FROM ${name(table.keyspace)}.${name(table.name)}`;
  const { data, error: first } = useLoad(() => query({ text, page_size: 100 }), [text]);
  const all = data ? [data, ...pages] : [];
  const shown = all[page];
  const next = async () => {
    if (all[page + 1]) return setPage(page + 1);
    try {
      const more = await query({ text, page_size: 100, paging_state: shown.paging_state });
      setError(null);
      setPages([...pages, more]);
      setPage(page + 1);
    } catch (problem) {
      setError(problem as Error);
    }
  };
  if (first) return <ErrorBox error={first} />;
  if (!shown) return <Loading />;
  if (page === 0 && shown.rows!.length === 0) return <Empty title="The table is empty" />;
  return (
    <Card>
      {error && <ErrorBox error={error} />}
      <div class="result-bar">
        <span class="muted">{plural(shown.rows!.length, 'row')} in the order of storage: by token, then by clustering key</span>
        <span class="pager">
          <button type="button" class="button" disabled={page === 0} onClick={() => setPage(page - 1)}>
            Previous
          </button>
          <span>Page {page + 1}</span>
          <button type="button" class="button" disabled={!shown.paging_state} onClick={next}>
            Next
          </button>
        </span>
      </div>
      <Grid key={page} columns={shown.columns!} rows={shown.rows!} label={`Rows of ${table.name}`} />
    </Card>
  );
}

function Queries({ table }: { table: Table }) {
  const rows = (table.queries ?? []).sort((a, b) => b.calls - a.calls);
  return (
    <Card>
      <List
        empty="No statement has used this table since its statistics began"
        columns={[{ title: 'Statement', wide: true }, { title: 'Calls', number: true }, { title: 'p50', number: true }, { title: 'p99', number: true }, { title: 'Partitions', number: true }, { title: 'Rows read', number: true }, { title: 'Returned', number: true }, { title: 'Tombstones', number: true }]}
        rows={rows.map((one) => [
          <a class="mono" href={link(['query'], { text: one.query, keyspace: table.keyspace })}>
            <bdi>{one.query}</bdi>
          </a>,
          count(one.calls),
          micros(one.latency_p50_us),
          micros(one.latency_p99_us),
          count(one.calls ? one.partitions_read / one.calls : 0),
          count(one.calls ? one.rows_read / one.calls : 0),
          count(one.calls ? one.rows_returned / one.calls : 0),
          count(one.calls ? one.tombstones_read / one.calls : 0),
        ])}
      />
      <p class="pad muted">Rows, partitions and tombstones are means per call.</p>
    </Card>
  );
}

const tabs: [string, string][] = [
  ['shape', 'Overview'],
  ['data', 'Rows'],
  ['layout', 'Layout'],
  ['queries', 'Statements'],
  ['ddl', 'Definition'],
];

export function TablePage({ route }: PageProps) {
  const [, keyspace, table] = route.parts;
  useTitle(table);
  const { data, error, reload } = useLoad<Table>((signal) => get('table', { keyspace, table }, signal), [keyspace, table]);
  usePolling(reload, 10);
  const tab = route.parameters.get('tab') ?? 'shape';
  const select = (next: string, more: Record<string, string> = {}) => go(['table', keyspace, table], { tab: next, ...more });
  if (error)
    return (
      <>
        <PageHead title={<bdi>{`${keyspace}.${table}`}</bdi>}>
          <a class="button" href={link(['schema'])}>
            All keyspaces
          </a>
        </PageHead>
        <ErrorBox error={error} />
      </>
    );
  if (!data || data.name !== table || data.keyspace !== keyspace) return <Loading />;
  const shown = data.virtual ? tabs.filter(([id]) => id === 'shape' || id === 'data') : tabs;
  return (
    <>
      <PageHead
        title={
          <>
            <a class="crumbs" href={link(['schema', keyspace])}>
              <bdi>{keyspace}</bdi>
            </a>
            <span class="crumbs"> / </span>
            <bdi>{table}</bdi>
          </>
        }
        sub={data.view_of ? `Materialized view of ${data.view_of}` : data.comment || undefined}
      >
        <a class="button" href={link(['query'], { keyspace, text: `SELECT * FROM ${name(keyspace)}.${name(table)} WHERE ${data.columns.filter((c) => c.kind === 'partition_key').map((c) => `${name(c.name)} = ?`).join(' AND ')};` })}>
          Query
        </a>
      </PageHead>
      <Tabs label="Table" tabs={shown} current={tab} onChange={(next) => select(next)} />
      {tab === 'data' ? (
        <Data table={data} />
      ) : tab === 'layout' ? (
        <LayoutTab table={data} partition={route.parameters.get('partition') ?? ''} onPick={(partition) => select('layout', partition ? { partition } : {})} />
      ) : tab === 'queries' ? (
        <Queries table={data} />
      ) : tab === 'ddl' ? (
        <Card>
          <Code text={data.ddl ?? ''} />
        </Card>
      ) : (
        <Shape table={data} onOpen={(partition) => select('layout', { partition })} />
      )}
    </>
  );
}
