// The schema: a tree to search, definitions to copy, and the diagram of a keyspace.
import { useState } from 'preact/hooks';
import { get, loadSchema, type KeyspaceNode } from './api';
import { plural } from './format';
import { Diagram } from './diagram';
import { link } from './router';
import type { PageProps } from './main';
import { Tree } from './tree';
import { Card, Code, Empty, ErrorBox, Icon, Loading, PageHead, Tabs, useLoad, useTitle } from './ui';

const maxDrawn = 150; // tables of a diagram

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
  const isLarge = keyspace.tables.length > maxDrawn;
  const { data, error } = useLoad((signal) => (isEmpty || isLarge ? Promise.resolve(null) : get('advisor', { keyspace: keyspace.name }, signal)), [keyspace.name]);
  if (isEmpty) return <Empty title="No tables yet" />;
  if (isLarge)
    return (
      <Empty title={`${plural(keyspace.tables.length, 'table')} are too many for one diagram`}>
        <p>Choose a table to see its columns and statements, or copy the definition.</p>
      </Empty>
    );
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
