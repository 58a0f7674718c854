// The cluster: its servers, the ring of shards, moves, and logs.
import { useState } from 'preact/hooks';
import { get } from './api';
import { bytes, count, duration, plural } from './format';
import { Badge, Card, Empty, ErrorBox, List, Loading, Notice, PageHead, useLoad, usePolling, useTitle } from './ui';

interface Server {
  name: string;
  address: string;
  data_center: string;
  rack: string;
  version: string;
  state: 'serving' | 'opening' | 'joining' | 'standby' | 'leaving';
  shards: number;
  is_leader: boolean;
  silent_ms: number;
}
interface Shard {
  shard: number;
  first_token: string;
  last_token: string;
  epoch: number;
  owner: string;
  next: string;
  logs_to_replay: number;
  bytes: number;
  files: number;
  trash: number;
}
interface Log {
  log: string;
  server: string;
  is_sealed: boolean;
  first_segment: number;
  last_segment: number;
  sequence: number; // of the last record
  bytes: number;
}
interface Answer {
  storage: string;
  lease_ms: number;
  total_bytes: number;
  used_bytes: number;
  own: string;
  servers: Server[];
  shards: Shard[];
  logs: Log[];
}

const full = 0.85; // of the storage
const maxRows = 200;
const plainColours = ['--series-1', '--series-2', '--series-3', '--series-4'];

// The colour of a server by its place among the sorted names. Further servers get hues between the first ones.
const colourOf = (place: number) => (place < 0 ? 'var(--line)' : place < plainColours.length ? `var(${plainColours[place]})` : `hsl(${(place * 137) % 360} 45% 50%)`);

// Names in the cluster end with the boot of their machine: "delphi#0ee82104".
const plain = (name: string) => name.replace(/#[0-9a-f]+$/, '');
const Name = ({ name }: { name: string }) => <bdi title={name}>{plain(name)}</bdi>;

// A server renews its lease four times per lease.
const isSilent = (server: Server, lease: number) => server.silent_ms > lease / 2;
const isMoving = (shard: Shard) => shard.next !== '' || shard.logs_to_replay > 0;

function warningsOf(answer: Answer): string[] {
  const found = answer.servers.filter((one) => isSilent(one, answer.lease_ms)).map((one) => `${plain(one.name)} has not renewed its lease for ${duration(one.silent_ms / 1000)}: it has stopped, or does not reach the storage`);
  const ownerless = answer.shards.filter((one) => one.owner === '').length;
  if (ownerless > 0) found.push(`${plural(ownerless, 'shard')} without a server: their partitions cannot be read or written`);
  if (answer.total_bytes > 0 && answer.used_bytes > full * answer.total_bytes) found.push(`The storage is ${Math.round((100 * answer.used_bytes) / answer.total_bytes)}% full`);
  return found;
}

interface Arc {
  from: number; // shares of the ring
  to: number;
  owner: string;
  moving: boolean;
  shards: Shard[];
}

// Neighbours of one owner are one arc. The shard of the catalogue has no tokens, and is no part of the ring.
function arcsOf(shards: Shard[]): Arc[] {
  const ring = shards.filter((one) => one.first_token !== '');
  const arcs: Arc[] = [];
  ring.forEach((shard, i) => {
    const last = arcs.at(-1);
    if (last && last.owner === shard.owner && last.moving === isMoving(shard) && ring.length > maxRows) {
      last.to = (i + 1) / ring.length;
      last.shards.push(shard);
    } else arcs.push({ from: i / ring.length, to: (i + 1) / ring.length, owner: shard.owner, moving: isMoving(shard), shards: [shard] });
  });
  return arcs;
}

// A part of a ring around (100, 100) with radii 62 and 92. It begins at the top.
function arcPath({ from, to }: Arc): string {
  if (to - from > 0.9999) return 'M100 8a92 92 0 1 1-.01 0zM100 38a62 62 0 1 0 .01 0z';
  const gap = Math.min(0.0012, (to - from) / 8);
  const at = (share: number, radius: number) => {
    const angle = 2 * Math.PI * share - Math.PI / 2;
    return `${(100 + radius * Math.cos(angle)).toFixed(2)} ${(100 + radius * Math.sin(angle)).toFixed(2)}`;
  };
  const large = to - from > 0.5 ? 1 : 0;
  return `M${at(from + gap, 92)}A92 92 0 ${large} 1 ${at(to - gap, 92)}L${at(to - gap, 62)}A62 62 0 ${large} 0 ${at(from + gap, 62)}z`;
}

function Ring({ answer, placeOf }: { answer: Answer; placeOf: (name: string) => number }) {
  const arcs = arcsOf(answer.shards);
  const catalogue = answer.shards.find((one) => one.first_token === '');
  const label = answer.servers.map((one) => `${plain(one.name)} has ${plural(one.shards, 'shard')}`).join(', ');
  return (
    <svg class="ring" viewBox="0 0 200 200" role="img" aria-label={`Shards on the ring of tokens: ${label}`}>
      {arcs.map((arc) => (
        <path key={arc.shards[0].shard} d={arcPath(arc)} fill={colourOf(placeOf(arc.owner))} fill-rule="evenodd" class={arc.moving ? 'is-moving' : ''}>
          <title>
            {arc.shards.length === 1 ? `Shard ${arc.shards[0].shard}` : `Shards ${arc.shards[0].shard} to ${arc.shards.at(-1)!.shard}`}: {plain(arc.owner) || 'no server'}
            {arc.moving && arc.shards[0].next && `, moves to ${plain(arc.shards[0].next)}`}
            {`\ntokens ${arc.shards[0].first_token} to ${arc.shards.at(-1)!.last_token}\n${bytes(arc.shards.reduce((sum, one) => sum + one.bytes, 0))}`}
          </title>
        </path>
      ))}
      {catalogue && (
        <circle cx="100" cy="100" r="24" fill={colourOf(placeOf(catalogue.owner))} class={isMoving(catalogue) ? 'is-moving' : ''}>
          <title>{`Shard ${catalogue.shard}, the schema: ${plain(catalogue.owner) || 'no server'}`}</title>
        </circle>
      )}
      {catalogue && (
        <text x="100" y="140" text-anchor="middle" class="ring-text">
          schema
        </text>
      )}
    </svg>
  );
}

function Servers({ answer, placeOf }: { answer: Answer; placeOf: (name: string) => number }) {
  return (
    <List
      empty="No server runs"
      columns={[{ title: 'Server', wide: true }, { title: 'State' }, { title: 'Shards', number: true }, { title: 'Lease' }, { title: 'Place' }]}
      rows={answer.servers.map((one) => [
        <>
          <i class="swatch" style={{ background: colourOf(placeOf(one.name)) }} />
          <Name name={one.name} />
          <br />
          <span class="muted mono">{one.address}</span> {one.name === answer.own && <Badge>this server</Badge>} {one.is_leader && <Badge kind="accent" title="Assigns shards to servers">leader</Badge>}
        </>,
        <Badge kind={one.state === 'serving' ? 'ok' : one.state === 'standby' ? '' : 'accent'}>{one.state}</Badge>,
        one.shards,
        isSilent(one, answer.lease_ms) ? <Badge kind="error">silent for {duration(one.silent_ms / 1000)}</Badge> : <span class="muted">renewed</span>,
        <>
          <bdi>{`${one.data_center} / ${one.rack}`}</bdi>
          <br />
          <span class="muted">{one.version}</span>
        </>,
      ])}
    />
  );
}

const Moves = ({ shards }: { shards: Shard[] }) => (
  <List
    empty="Every shard is where it belongs"
    columns={[{ title: 'Shard', number: true }, { title: 'Server' }, { title: 'What happens' }, { title: 'Size', number: true }]}
    rows={shards.filter(isMoving).map((one) => [
      one.shard,
      <Name name={one.owner || 'none'} />,
      [one.next && `moves to ${plain(one.next)}`, one.logs_to_replay > 0 && `recovers writes of ${plural(one.logs_to_replay, 'log')}`].filter(Boolean).join(', '),
      bytes(one.bytes),
    ])}
  />
);

const Logs = ({ logs }: { logs: Log[] }) => (
  <List
    empty="No logs"
    columns={[{ title: 'Server' }, { title: 'Last record', number: true }, { title: 'Segments', number: true }, { title: 'Size', number: true }, { title: 'State' }]}
    rows={logs.map((one) => [
      <Name name={one.server || one.log} />,
      one.sequence.toLocaleString('en'),
      one.last_segment === 0 ? '–' : one.first_segment === one.last_segment ? one.last_segment : `${one.first_segment} to ${one.last_segment}`,
      bytes(one.bytes),
      one.server ? one.is_sealed ? <Badge kind="error">ended by another server</Badge> : <Badge kind="ok">in use</Badge> : <Badge>of a server that is gone</Badge>,
    ])}
  />
);

function Shards({ shards }: { shards: Shard[] }) {
  const [limit, setLimit] = useState(maxRows);
  return (
    <>
      <List
        empty=""
        columns={[{ title: 'Shard', number: true }, { title: 'Server' }, { title: 'Tokens' }, { title: 'Epoch', number: true }, { title: 'Size', number: true }, { title: 'Files', number: true }]}
        rows={shards.slice(0, limit).map((one) => [one.shard, <Name name={one.owner || 'none'} />, one.first_token ? <span class="mono">{`${one.first_token} to ${one.last_token}`}</span> : <span class="muted">the schema, roles and system tables</span>, count(one.epoch), bytes(one.bytes), count(one.files)])}
      />
      {shards.length > limit && (
        <p class="pad">
          <button type="button" class="button" onClick={() => setLimit((n) => n + 1000)}>
            Show more of the {count(shards.length)} shards
          </button>
        </p>
      )}
    </>
  );
}

export function ClusterPage() {
  useTitle('Cluster');
  const { data, error, reload } = useLoad<Answer>((signal) => get('cluster', {}, signal), []);
  usePolling(reload, 3);
  if (!data) return error ? <ErrorBox error={error} /> : <Loading />;
  const names = data.servers.map((one) => one.name).sort();
  const placeOf = (name: string) => names.indexOf(name);
  const moving = data.shards.filter(isMoving).length;
  return (
    <>
      <PageHead title="Cluster" sub={`${data.storage} · leases of ${data.lease_ms / 1000} s${data.total_bytes > 0 ? ` · ${bytes(data.used_bytes)} of ${bytes(data.total_bytes)} used` : ''}`} />
      {warningsOf(data).map((one) => (
        <Notice key={one} kind="error">
          {one}
        </Notice>
      ))}
      <div class="cluster-top">
        <Card title="Ring">
          {data.shards.length === 0 ? <Empty title="No shards" /> : <Ring answer={data} placeOf={placeOf} />}
        </Card>
        <Card title={`Servers (${data.servers.length})`}>
          <Servers answer={data} placeOf={placeOf} />
        </Card>
      </div>
      <Card title={`Moves (${moving})`}>
        <Moves shards={data.shards} />
      </Card>
      <Card title="Logs">
        <Logs logs={data.logs} />
      </Card>
      <Card title={`Shards (${data.shards.length})`}>
        <Shards shards={data.shards} />
      </Card>
    </>
  );
}
