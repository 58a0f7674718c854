// How partitions lie on disk: their cells in the order of storage.
import { get } from './api';
import { bytes, count, plural } from './format';
import type { Table } from './table';
import { Badge, Card, Empty, ErrorBox, Loading, useLoad } from './ui';

interface LayoutCell {
  name: string;
  value: string;
  written: string; // "@1700000000000000 ttl 60 until 1700000060"
  kind: 'value' | 'deletion' | 'marker';
}
interface Partition {
  key: string;
  token: string;
  cells: LayoutCell[];
  cells_left: number;
  rows: number;
  rows_left: number;
  records: number;
  key_bytes: number;
  value_bytes: number;
  whole: boolean;
}

function Written({ text }: { text: string }) {
  const parts = text.match(/^@(-?\d+)(?: ttl (\d+) until (\d+))?$/);
  if (!parts) return <>{text}</>;
  const at = new Date(Number(parts[1]) / 1000);
  const readable = Number.isNaN(at.getTime()) || at.getFullYear() < 1990 || at.getFullYear() > 2200 ? '' : at.toLocaleString('en-GB');
  return (
    <>
      <span title={readable}>@{parts[1]}</span>
      {parts[2] && (
        <span class="cell-ttl" title={new Date(Number(parts[3]) * 1000).toLocaleString('en-GB')}>
          {' '}
          TTL {parts[2]} s
        </span>
      )}
    </>
  );
}

function PartitionCard({ partition }: { partition: Partition }) {
  return (
    <Card
      title={<bdi class="mono">{partition.key}</bdi>}
      extra={
        <span class="actions">
          <Badge>{plural(partition.rows, 'row')}{partition.whole ? '' : ' or more'}</Badge>
          <Badge>{bytes(partition.key_bytes + partition.value_bytes)}</Badge>
          <Badge title="Partitions are sorted by token">token {partition.token}</Badge>
        </span>
      }
    >
      <ol class="strip" aria-label={`Cells of ${partition.key}`}>
        {partition.cells.map((cell, i) => (
          <li key={i} class={`cell is-${cell.kind}`} style={{ listStyle: 'none' }}>
            <div class="cell-name">
              <bdi>{cell.name}</bdi>
            </div>
            <div class="cell-value">
              <bdi>{cell.value}</bdi>
            </div>
            <div class="cell-written">
              <Written text={cell.written} />
            </div>
          </li>
        ))}
      </ol>
      {(partition.rows_left > 0 || partition.cells_left > 0) && (
        <p class="pad muted">
          {partition.rows_left > 0 && `${count(partition.rows_left)}${partition.whole ? '' : ' or more'} further rows are not shown. `}
          {partition.cells_left > 0 && `${count(partition.cells_left)} further cells are not shown.`}
        </p>
      )}
    </Card>
  );
}

export function LayoutTab({ table, partition, onPick }: { table: Table; partition: string; onPick: (partition: string) => void }) {
  const keys = table.columns.filter((column) => column.kind === 'partition_key');
  const { data, error } = useLoad<{ partitions: Partition[]; more: boolean }>((signal) => get('layout', { keyspace: table.keyspace, table: table.name, partition, markers: 1 }, signal), [table.keyspace, table.name, partition]);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    onPick(String(new FormData(event.target as HTMLFormElement).get('partition')).trim());
  };
  return (
    <>
      <form class="card toolbar" onSubmit={submit} key={partition}>
        <label class="grow">
          Partition
          <input name="partition" defaultValue={partition} placeholder={`${keys.map((key) => `${key.name} ${key.type}`).join(', ')} – as CQL literals`} />
        </label>
        <button class="button button-primary">Show</button>
        {partition && (
          <button type="button" class="button" onClick={() => onPick('')}>
            First partitions
          </button>
        )}
      </form>
      {error ? (
        <ErrorBox error={error} />
      ) : !data ? (
        <Loading />
      ) : data.partitions.length === 0 ? (
        <Empty title={partition ? 'The partition is empty' : 'The table is empty'} />
      ) : (
        <>
          {data.partitions.map((one) => (
            <PartitionCard key={one.token + one.key} partition={one} />
          ))}
          <p class="muted">
            Cells are in the order of storage, with the time of their write in microseconds. Deletions are red until compaction removes them.
            {data.more && ' There are more partitions: name one to see it.'}
          </p>
        </>
      )}
    </>
  );
}
