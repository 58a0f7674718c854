// The activity of the server, and its configuration.
import { useMemo, useState } from 'preact/hooks';
import { get, post } from './api';
import { bytes, count, moment, percent } from './format';
import type { PageProps } from './main';
import { Badge, Card, Empty, ErrorBox, List, Loading, Notice, PageHead, useLoad, usePolling, useTitle } from './ui';

type Row = Record<string, any>;
const levels: Record<string, string> = { ERROR: 'error', WARN: 'warning' };
interface Activity {
  clients: Row[];
  running: Row[];
  tasks: Row[];
  pools: Row[];
  log: Row[];
  has_snapshots: boolean;
  snapshots: { name: string; taken: number; tables: number; bytes: number; own_bytes: number }[];
}

function Snapshots({ snapshots, onChange, readOnly }: { snapshots: Activity['snapshots']; onChange: () => void; readOnly: boolean }) {
  const [state, setState] = useState<{ busy: string; error: Error | null; done: string }>({ busy: '', error: null, done: '' });
  const run = async (what: string, work: () => Promise<any>, done: (answer: any) => string) => {
    setState({ busy: what, error: null, done: '' });
    try {
      setState({ busy: '', error: null, done: done(await work()) });
      onChange();
    } catch (error) {
      setState({ busy: '', error: error as Error, done: '' });
    }
  };
  return (
    <Card
      title="Snapshots"
      extra={
        <button type="button" class="button" disabled={readOnly || state.busy !== ''} onClick={() => run('take', () => post('snapshots', {}), (taken) => `Took ${taken.name}, ${bytes(taken.bytes)}`)}>
          {state.busy === 'take' ? 'Taking…' : 'Take a snapshot'}
        </button>
      }
    >
      {state.error && <div class="pad"><ErrorBox error={state.error} /></div>}
      {state.done && <div class="pad"><Notice kind="ok">{state.done}</Notice></div>}
      <List
        empty="No snapshots"
        columns={[{ title: 'Name' }, { title: 'Taken' }, { title: 'Tables', number: true }, { title: 'Size', number: true }, { title: 'Only here', number: true }, { title: 'Check' }]}
        rows={snapshots.map((one) => [
          one.name,
          moment(one.taken),
          one.tables,
          bytes(one.bytes),
          bytes(one.own_bytes),
          <button type="button" class="button" disabled={state.busy !== ''} onClick={() => run(one.name, () => post('snapshots/verify', { name: one.name }), () => `${one.name} is intact: every file has its checksum`)}>
            {state.busy === one.name ? 'Verifying…' : 'Verify'}
          </button>,
        ])}
      />
    </Card>
  );
}

export function ActivityPage({ session }: PageProps) {
  useTitle('Activity');
  const { data, error, reload } = useLoad<Activity>((signal) => get('activity', {}, signal), []);
  usePolling(reload, 5);
  const [level, setLevel] = useState('notable');
  const log = useMemo(() => (data?.log ?? []).filter((line) => level === 'all' || line.level !== 'INFO').sort((a, b) => b.timestamp - a.timestamp).slice(0, 200), [data, level]);
  if (!data)
    return error ? (
      <>
        <PageHead title="Activity" />
        <ErrorBox error={error}>
          <p class="muted">Activity needs the permission SELECT on the keyspace system_views.</p>
        </ErrorBox>
      </>
    ) : (
      <Loading />
    );
  return (
    <>
      <PageHead title="Activity" sub="Clients, statements and background work" />
      <div class="columns-2">
        <Card title={`Running (${data.running.length})`}>
          <List empty="No statement is running on the blocking pool" columns={[{ title: 'Statement', wide: true }, { title: 'Queued', number: true }, { title: 'Running', number: true }, { title: 'Thread' }]} rows={data.running.map((one) => [<span class="mono">{one.task}</span>, `${count((one.queued_micros ?? 0) / 1000)} ms`, `${count((one.running_micros ?? 0) / 1000)} ms`, one.thread_id])} />
        </Card>
        <Card title={`Builds and compactions (${data.tasks.length})`}>
          <List
            empty="No background work"
            columns={[{ title: 'Kind' }, { title: 'Table' }, { title: 'Progress' }, { title: 'Unit' }]}
            rows={data.tasks.map((one) => [
              one.kind,
              <bdi>{`${one.keyspace_name}.${one.table_name}`}</bdi>,
              <>
                <span class="share">
                  <i style={{ width: `${one.total ? Math.min(100, (100 * one.progress) / one.total) : 0}%` }} />
                </span>
                {one.total ? percent(one.progress / one.total) : count(one.progress)}
              </>,
              one.unit,
            ])}
          />
        </Card>
      </div>
      <Card title={`Clients (${data.clients.length})`}>
        <List
          empty="No clients are connected"
          columns={[{ title: 'Address' }, { title: 'Role' }, { title: 'Driver' }, { title: 'Keyspace' }, { title: 'Requests', number: true }, { title: 'TLS' }]}
          rows={data.clients.slice(0, 500).map((one) => [`${one.address}:${one.port}`, <bdi>{one.username}</bdi>, <bdi>{`${one.driver_name ?? ''} ${one.driver_version ?? ''}`}</bdi>, <bdi>{one.keyspace_name ?? ''}</bdi>, count(one.request_count), one.ssl_protocol || <span class="muted">off</span>])}
        />
      </Card>
      <Card title="Threads">
        <List empty="" columns={[{ title: 'Pool' }, { title: 'Active', number: true }, { title: 'Limit', number: true }, { title: 'Waiting', number: true }, { title: 'Completed', number: true }]} rows={data.pools.map((one) => [one.name, count(one.active_tasks), count(one.active_tasks_limit), count(one.pending_tasks), count(one.completed_tasks)])} />
      </Card>
      {data.has_snapshots && <Snapshots snapshots={data.snapshots} onChange={reload} readOnly={session.read_only} />}
      <Card
        title="Slow and failed requests, and the log"
        extra={
          <select aria-label="Lines" value={level} onChange={(event) => setLevel(event.currentTarget.value)}>
            <option value="notable">Warnings and errors</option>
            <option value="all">All lines</option>
          </select>
        }
      >
        <List
          empty="Nothing was slow or failed"
          columns={[{ title: 'Time' }, { title: 'Level' }, { title: 'Message', wide: true }]}
          rows={log.map((line) => [<span class="number">{moment(line.timestamp)}</span>, <Badge kind={levels[line.level] ?? ''}>{line.level}</Badge>, <bdi class="mono">{line.message}</bdi>])}
        />
      </Card>
    </>
  );
}

interface Setting {
  name: string;
  section: string;
  value: string;
  secret: boolean;
  source: string;
  help: string;
}

export function SettingsPage() {
  useTitle('Settings');
  const [search, setSearch] = useState('');
  const { data, error } = useLoad<{ settings: Setting[] }>((signal) => get('settings', {}, signal), []);
  if (error) return <ErrorBox error={error} />;
  if (!data) return <Loading />;
  const wanted = search.toLowerCase();
  const found = data.settings.filter((one) => `${one.name} ${one.value} ${one.source}`.toLowerCase().includes(wanted));
  const sections = [...new Set(found.map((one) => one.section))];
  return (
    <>
      <PageHead title="Settings" sub="Every setting, and where its value comes from">
        <input type="search" placeholder="Search settings" aria-label="Search settings" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
      </PageHead>
      {sections.length === 0 && <Empty title="No setting matches" />}
      {sections.map((section) => (
        <Card key={section} title={section}>
          <List
            empty=""
            columns={[{ title: 'Setting', wide: true }, { title: 'Value' }, { title: 'Source' }]}
            rows={found
              .filter((one) => one.section === section)
              .map((one) => [
                <>
                  <span class="mono">{one.name}</span>
                  <br />
                  <span class="muted">{one.help.replaceAll('`', '')}</span>
                </>,
                one.secret ? <span class="muted">hidden</span> : <span class="mono">{one.value || '–'}</span>,
                one.source === 'default' ? <span class="muted">default</span> : <Badge kind="accent">{one.source}</Badge>,
              ])}
          />
        </Card>
      ))}
    </>
  );
}
