// The schema: a tree to search, definitions to copy, and the diagram of a keyspace.
import { useMemo, useState } from 'preact/hooks';
import { get, loadSchema, type KeyspaceNode } from './api';
import { count, plural } from './format';
import { Diagram } from './diagram';
import { link } from './router';
import type { PageProps } from './main';
import { Card, Code, Empty, ErrorBox, Icon, Loading, PageHead, Tabs, useLoad, useTitle } from './ui';

interface Item {
  kind: string;
  name: string;
}
const maxShown = 200; // per keyspace, until more are asked for

function itemsOf(keyspace: KeyspaceNode): Item[] {
  const named = (kind: string, names: string[]) => names.map((name) => ({ kind, name }));
  return [
    ...named('table', keyspace.tables),
    ...named('view', keyspace.views.map((view) => view.name)),
    ...named('index', keyspace.indexes.map((index) => index.name)),
    ...named('type', keyspace.types),
    ...named('function', keyspace.functions),
    ...named('aggregate', keyspace.aggregates),
  ];
}

const hrefOf = (keyspace: string, item: Item) => (item.kind === 'table' || item.kind === 'view' ? link(['table', keyspace, item.name]) : link(['schema', keyspace, item.kind, item.name]));
const iconOf = (kind: string) => (kind === 'aggregate' ? 'function' : kind);

function Branch({ keyspace, search, current, alone = false }: { keyspace: KeyspaceNode; search: string; current: string[]; alone?: boolean }) {
  const [limit, setLimit] = useState(maxShown);
  const [open, setOpen] = useState(alone || current[1] === keyspace.name);
  const all = useMemo(() => itemsOf(keyspace), [keyspace]);
  const found = search ? all.filter((item) => item.name.toLowerCase().includes(search)) : all;
  if (search && found.length === 0 && !keyspace.name.toLowerCase().includes(search)) return null;
  const isOpen = open || search !== '';
  return (
    <li>
      <details open={isOpen} onToggle={(event) => !search && setOpen(event.currentTarget.open)}>
        <summary>
          <Icon name="chevron" size={13} />
          <bdi>{keyspace.name}</bdi>
          <span class="count">{count(found.length)}</span>
        </summary>
        {isOpen && (
          <ul class="tree">
            <li>
              <a href={link(['schema', keyspace.name])} aria-current={current.length === 2 && current[1] === keyspace.name ? 'page' : undefined}>
                <Icon name="schema" size={15} /> <span class="muted">Diagram and definition</span>
              </a>
            </li>
            {found.slice(0, limit).map((item) => (
              <li key={`${item.kind} ${item.name}`}>
                <a href={hrefOf(keyspace.name, item)} aria-current={current[1] === keyspace.name && current[2] === item.kind && current[3] === item.name ? 'page' : undefined}>
                  <Icon name={iconOf(item.kind)} size={15} /> <bdi>{item.name}</bdi>
                </a>
              </li>
            ))}
            {found.length > limit && (
              <li>
                <button type="button" class="link pad" onClick={() => setLimit((n) => n + 1000)}>
                  {count(found.length - limit)} more
                </button>
              </li>
            )}
          </ul>
        )}
      </details>
    </li>
  );
}

export function Tree({ keyspaces, current }: { keyspaces: KeyspaceNode[]; current: string[] }) {
  const [search, setSearch] = useState('');
  const wanted = search.trim().toLowerCase();
  const users = keyspaces.filter((one) => !one.system);
  const system = keyspaces.filter((one) => one.system);
  return (
    <nav class="card tree-card" aria-label="Schema">
      <input type="search" placeholder="Search tables, types, …" aria-label="Search the schema" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
      <ul class="tree">
        {users.map((keyspace) => (
          <Branch key={keyspace.name} keyspace={keyspace} search={wanted} current={current} alone={users.length === 1} />
        ))}
        {users.length === 0 && <li class="muted pad">No keyspaces yet</li>}
        <li>
          <details>
            <summary>
              <Icon name="chevron" size={13} /> <span class="muted">System</span>
              <span class="count">{system.length}</span>
            </summary>
            <ul class="tree">
              {system.map((keyspace) => (
                <Branch key={keyspace.name} keyspace={keyspace} search={wanted} current={current} />
              ))}
            </ul>
          </details>
        </li>
      </ul>
    </nav>
  );
}

function Definition({ kind, keyspace, name }: { kind: string; keyspace: string; name: string }) {
  const { data, error } = useLoad((signal) => get('describe', { kind, keyspace, name }, signal), [kind, keyspace, name]);
  if (error) return <ErrorBox error={error} />;
  return data ? <Code text={data.ddl} /> : <Loading />;
}

function KeyspacePage({ keyspace }: { keyspace: KeyspaceNode }) {
  const [tab, setTab] = useState<'diagram' | 'ddl'>('diagram');
  return (
    <>
      <PageHead title={<bdi>{keyspace.name}</bdi>} sub={`${plural(keyspace.tables.length, 'table')}, ${plural(keyspace.views.length, 'view')}, ${plural(keyspace.indexes.length, 'index', 'indexes')}, ${plural(keyspace.types.length, 'type')}`}>
        <a class="button" href={link(['query'], { keyspace: keyspace.name })}>
          Query
        </a>
      </PageHead>
      {keyspace.system ? (
        <Empty title="A keyspace of the system">
          <p>Choose a table to see its columns and rows.</p>
        </Empty>
      ) : (
        <>
          <Tabs label="Keyspace" tabs={[['diagram', 'Diagram'], ['ddl', 'Definition']]} current={tab} onChange={setTab} />
          <Card>{tab === 'diagram' ? <KeyspaceDiagram keyspace={keyspace} /> : <Definition kind="keyspace" keyspace={keyspace.name} name="" />}</Card>
        </>
      )}
    </>
  );
}

function KeyspaceDiagram({ keyspace }: { keyspace: KeyspaceNode }) {
  const isEmpty = keyspace.tables.length === 0;
  const { data, error } = useLoad((signal) => (isEmpty ? Promise.resolve(null) : get('advisor', { keyspace: keyspace.name }, signal)), [keyspace.name]);
  if (isEmpty) return <Empty title="No tables yet" />;
  if (error) return <ErrorBox error={error} />;
  if (!data) return <Loading what="Drawing" />;
  return <Diagram svg={data.diagrams.physical} label={`Tables of ${keyspace.name} and the queries that read them`} />;
}

export function Schema({ route }: PageProps) {
  const [, space, kind, object] = route.parts;
  useTitle(object ?? space ?? 'Schema');
  const { data, error, loading, reload } = useLoad(() => loadSchema(true), [space]); // others may have changed it meanwhile
  if (error) return <ErrorBox error={error} />;
  if (!data) return <Loading />;
  const keyspace = data.find((one) => one.name === space);
  return (
    <div class="split">
      <Tree keyspaces={data} current={route.parts} />
      <div>
        {!space ? (
          <>
            <PageHead title="Schema">
              <button type="button" class="button button-quiet" onClick={reload}>
                <Icon name="refresh" size={15} /> Refresh
              </button>
            </PageHead>
            <Home keyspaces={data.filter((one) => !one.system)} />
          </>
        ) : !keyspace && loading ? (
          <Loading />
        ) : !keyspace ? (
          <Empty title={`There is no keyspace ${space}`} />
        ) : kind && object ? (
          <>
            <PageHead
              title={
                <>
                  <span class="crumbs">{keyspace.name} / </span>
                  <bdi>{object}</bdi>
                </>
              }
              sub={kind}
            />
            <Card>
              <Definition kind={kind} keyspace={keyspace.name} name={object} />
            </Card>
          </>
        ) : (
          <KeyspacePage keyspace={keyspace} key={keyspace.name} />
        )}
      </div>
    </div>
  );
}

function Home({ keyspaces }: { keyspaces: KeyspaceNode[] }) {
  if (keyspaces.length === 0)
    return (
      <Empty title="There are no keyspaces yet">
        <p>
          Create one on the <a href={link(['query'], { text: "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};" })}>query page</a>.
        </p>
      </Empty>
    );
  return (
    <Card>
      <table class="list">
        <thead>
          <tr>
            <th scope="col">Keyspace</th>
            <th scope="col" class="number">Tables</th>
            <th scope="col" class="number">Views</th>
            <th scope="col" class="number">Types</th>
          </tr>
        </thead>
        <tbody>
          {keyspaces.map((one) => (
            <tr key={one.name}>
              <td>
                <a href={link(['schema', one.name])}>
                  <bdi>{one.name}</bdi>
                </a>
              </td>
              <td class="number">{one.tables.length}</td>
              <td class="number">{one.views.length}</td>
              <td class="number">{one.types.length}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}
