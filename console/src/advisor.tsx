// The advisor: the live review, reviews of pasted models, and designs.
import { useState } from 'preact/hooks';
import { forgetSchema, get, post, query } from './api';
import { Chart } from './chart';
import { Diagram } from './diagram';
import { bytes, count, duration, percent, plural } from './format';
import type { PageProps } from './main';
import { go, link } from './router';
import { keep, kept } from './storage';
import { Badge, Card, Code, Dialog, Empty, ErrorBox, Icon, List, Loading, Notice, PageHead, Tabs, useLoad, useTitle } from './ui';

interface Choice {
  name: string;
  partitions: number;
  largest_bytes: number;
  hottest_rate: number;
  fits: boolean;
  chosen: boolean;
}
interface Finding {
  code: string;
  severity: 'note' | 'warning' | 'error';
  id: string;
  table: string;
  query: string;
  line: number;
  message: string;
  evidence: { text: string; origin: string }[];
  fix: string;
  cql: string;
  cost: string;
  replaces: string;
  choices: Choice[];
}
interface ReviewedTable {
  name: string;
  growth: { seconds: number; p50: number; p99: number; max: number }[];
  days_to_target: number | null;
  hottest_share: number;
  now: { p50: number; p99: number; max: number } | null;
}
interface ReviewedQuery {
  name: string;
  text: string;
  bound: string;
  table: string;
  write: boolean;
  supported: boolean;
  rows_read: number | null;
  rows_returned: number | null;
  rate: number;
}
interface Review {
  verdict: string;
  target: { partition_bytes: number };
  tables: ReviewedTable[];
  queries: ReviewedQuery[];
  findings: Finding[];
}
interface Answer {
  review: Review | null;
  diagrams?: Record<string, string>;
  remarks?: string[];
  cql?: string;
  design?: Record<string, any>;
}

const maxFindings = 50; // shown until more are asked for
const severities = { error: 'error', warning: 'warning', note: '' } as const;

// Splits CQL at semicolons outside of strings and comments.
function statementsOf(cql: string): string[] {
  const found: string[] = [];
  let from = 0;
  for (const match of cql.matchAll(/'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[^]*?\*\/|;/g)) {
    if (match[0] !== ';') continue;
    found.push(cql.slice(from, match.index));
    from = match.index + 1;
  }
  found.push(cql.slice(from));
  return found.map((one) => one.trim()).filter((one) => one.replace(/--[^\n]*|\/\*[^]*?\*\//g, '').trim());
}

function Apply({ finding, keyspace, onClose }: { finding: Finding; keyspace: string; onClose: (done: boolean) => void }) {
  const [state, setState] = useState<{ busy: boolean; done: number; error: Error | null }>({ busy: false, done: 0, error: null });
  const statements = statementsOf(finding.cql);
  const run = async () => {
    setState({ busy: true, done: 0, error: null });
    let done = 0;
    try {
      for (const text of statements) {
        await query({ text, keyspace });
        setState({ busy: true, done: ++done, error: null });
      }
      forgetSchema();
    } catch (error) {
      setState({ busy: false, done, error: error as Error });
      return;
    }
    setState({ busy: false, done, error: null });
  };
  const isDone = state.done === statements.length && !state.busy;
  return (
    <Dialog title="Create the suggested table" onClose={() => onClose(isDone)} wide>
      <p>
        {statements.length === 1 ? 'This statement is' : `These ${statements.length} statements are`} run exactly as shown. {finding.replaces ? `${finding.replaces} and its rows stay as they are.` : 'Existing tables stay as they are.'}
      </p>
      <Code text={`${statements.join(';\n\n')};`} />
      {finding.cost && <p class="muted">Cost: {finding.cost}</p>}
      {state.error && <ErrorBox error={state.error}>{state.done > 0 && <p>{plural(state.done, 'statement')} before it succeeded.</p>}</ErrorBox>}
      {isDone ? (
        <Notice kind="ok">Created. Write to the new table from now on, copy existing rows, then change the queries.</Notice>
      ) : (
        <button type="button" class="button button-primary" disabled={state.busy} onClick={run}>
          {state.busy ? 'Running…' : `Run ${plural(statements.length, 'statement')}`}
        </button>
      )}
    </Dialog>
  );
}

function Choices({ choices }: { choices: Choice[] }) {
  return (
    <div class="choices">
      <h3>Ways to split it</h3>
      <List
        empty=""
        columns={[{ title: 'Way' }, { title: 'Partitions per read', number: true }, { title: 'Largest partition', number: true }, { title: 'Fits' }]}
        rows={choices.map((one) => [
          <span>
            {one.name} {one.chosen && <Badge kind="accent">chosen</Badge>}
          </span>,
          count(one.partitions),
          bytes(one.largest_bytes),
          one.fits ? <Badge kind="ok">yes</Badge> : <Badge>no</Badge>,
        ])}
      />
    </div>
  );
}

function Growth({ table, target }: { table: ReviewedTable; target: number }) {
  if (table.growth.length < 2) return null;
  const start = Date.now() / 1000;
  const time = table.growth.map((point) => start + point.seconds);
  const horizon = table.growth.at(-1)!.seconds;
  return (
    <Chart
      title={`Largest partition over the next ${duration(horizon)}`}
      time={time}
      format={bytes}
      height={130}
      days={horizon > 3 * 86400}
      series={[
        { label: 'largest', values: table.growth.map((point) => point.max), colour: '--series-1', fill: true },
        { label: 'target', values: table.growth.map(() => target), colour: '--series-4' },
      ]}
    />
  );
}

function FindingView({ finding, review, keyspace, live, onApplied }: { finding: Finding; review: Review; keyspace: string; live: boolean; onApplied: () => void }) {
  const [applying, setApplying] = useState(false);
  const table = review.tables.find((one) => one.name === finding.table);
  const about = review.queries.find((one) => one.name === finding.query);
  const [space, name] = finding.table.includes('.') ? finding.table.split('.') : [keyspace, finding.table];
  return (
    <article class="finding">
      <header>
        <Badge kind={severities[finding.severity]}>{finding.severity}</Badge>
        {finding.table && (live ? <a href={link(['table', space, name])}><bdi>{finding.table}</bdi></a> : <strong><bdi>{finding.table}</bdi></strong>)}
        <span class="muted mono">{finding.code}</span>
        {!live && finding.line > 0 && <span class="muted">line {finding.line}</span>}
      </header>
      <p>
        <bdi>{finding.message}</bdi>
      </p>
      {about && !finding.evidence.some((one) => one.text === about.text) && <pre class="mono muted" style={{ whiteSpace: 'pre-wrap', margin: '6px 0' }}>{about.text}</pre>}
      <ul>
        {finding.evidence.map((one, i) => (
          <li key={i}>
            <bdi>{one.text}</bdi> <Badge kind={one.origin === 'measured' ? 'ok' : ''}>{one.origin}</Badge>
          </li>
        ))}
      </ul>
      {table && (finding.code === 'PARTITION_GROWTH' || finding.code === 'HOT_PARTITION') && <Growth table={table} target={review.target.partition_bytes} />}
      {finding.choices.length > 0 && <Choices choices={finding.choices} />}
      {finding.fix && (
        <div class="fix">
          <h3>Fix</h3>
          <p>
            <bdi>{finding.fix}</bdi>
          </p>
          {finding.cql && <Code text={finding.cql} />}
          {finding.cost && <p class="muted">Cost: {finding.cost}</p>}
          {live && finding.cql && (
            <button type="button" class="button apply" onClick={() => setApplying(true)}>
              Create this table…
            </button>
          )}
        </div>
      )}
      {applying && (
        <Apply
          finding={finding}
          keyspace={space}
          onClose={(done) => {
            setApplying(false);
            if (done) onApplied();
          }}
        />
      )}
    </article>
  );
}

function ReviewView({ answer, live, keyspace, onApplied }: { answer: Answer; live: boolean; keyspace: string; onApplied: () => void }) {
  const [tab, setTab] = useState('findings');
  const [limit, setLimit] = useState(maxFindings);
  const review = answer.review!;
  const diagrams = answer.diagrams ?? {};
  const number = (severity: string) => review.findings.filter((one) => one.severity === severity).length;
  return (
    <>
      {answer.remarks?.map((remark, i) => <Notice key={i}>{remark}</Notice>)}
      <Tabs
        label="Review"
        kind="sub"
        tabs={[
          ['findings', `Findings (${review.findings.length})`],
          ['queries', 'Statements'],
          ['physical', 'Diagram'],
          ['spread', 'Spread'],
          ['growth', 'Growth'],
        ]}
        current={tab}
        onChange={setTab}
      />
      {tab === 'findings' &&
        (review.findings.length === 0 ? (
          <Card>
            <Empty title="No findings">
              <p>{review.queries.length > 0 ? `${plural(review.queries.length, 'statement')} on ${plural(review.tables.length, 'table')}: every one reads what it should.` : 'No statement has been seen yet, so there is little to judge.'}</p>
            </Empty>
          </Card>
        ) : (
          <Card title={[number('error') && plural(number('error'), 'error'), number('warning') && plural(number('warning'), 'warning'), number('note') && plural(number('note'), 'note')].filter(Boolean).join(', ')}>
            {review.findings.slice(0, limit).map((finding) => (
              <FindingView key={finding.id} finding={finding} review={review} keyspace={keyspace} live={live} onApplied={onApplied} />
            ))}
            {review.findings.length > limit && (
              <p class="pad">
                <button type="button" class="button" onClick={() => setLimit((n) => n + 10 * maxFindings)}>
                  Show more of the {count(review.findings.length)} findings
                </button>
              </p>
            )}
          </Card>
        ))}
      {tab === 'queries' && (
        <Card>
          <List
            empty="No statements"
            columns={[{ title: 'Statement', wide: true }, { title: 'Partitions' }, { title: 'Rows read', number: true }, { title: 'Returned', number: true }, { title: 'Per second', number: true }]}
            rows={review.queries.map((one) => [
              <span class="mono">{one.text}</span>,
              one.supported ? <Badge kind={one.bound.includes('all') ? 'warning' : ''}>{one.bound}</Badge> : <Badge kind="error">refused</Badge>,
              count(one.rows_read),
              count(one.rows_returned),
              count(one.rate),
            ])}
          />
        </Card>
      )}
      {['physical', 'spread', 'growth'].includes(tab) && <Card>{diagrams[tab] ? <Diagram svg={diagrams[tab]} label={tab} /> : <Empty title="Nothing to draw" />}</Card>}
    </>
  );
}

const example = `CREATE TABLE events (
  device text, at timestamp, kind text, value double,
  PRIMARY KEY (device, at)
);

SELECT * FROM events WHERE device = ? AND at > ?;
SELECT * FROM events WHERE kind = ? ALLOW FILTERING;
`;
const exampleDesign = `-- @entity products count=100k (
--   id uuid key,
--   name text size=30,
--   price decimal)
-- @entity categories count=200 (
--   id uuid key,
--   name text size=20)

-- @rel products.categories -> categories.products many-many links=250k

-- @query product rate=500/s
--   SELECT products.* FROM products WHERE id = :product
-- @query products_of_category rate=200/s
--   SELECT categories.products.* FROM categories WHERE categories.id = :category

-- @write add_product rate=1/s
--   INSERT INTO products (id, name, price) VALUES (:product, :name, :price)
-- @write tag rate=3/s
--   UPDATE products SET categories = categories + {:category} WHERE id = :product
`;

function Pasted({ kind }: { kind: 'review' | 'design' }) {
  const key = `sibyl-${kind}`;
  const [text, setText] = useState(kept(key) ?? (kind === 'review' ? example : exampleDesign));
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const [busy, setBusy] = useState(false);
  const run = async () => {
    keep(key, text);
    setBusy(true);
    setError(null);
    try {
      setAnswer(await post(kind, { text }));
    } catch (problem) {
      setAnswer(null);
      setError(problem as Error);
    }
    setBusy(false);
  };
  return (
    <>
      <Card title={kind === 'review' ? 'Tables and queries' : 'Entities, queries and their rates'} extra={<button type="button" class="button button-primary" disabled={busy || !text.trim()} onClick={run}>{busy ? 'Working…' : kind === 'review' ? 'Review' : 'Design'}</button>}>
        <div class="card-body">
          <textarea aria-label={kind === 'review' ? 'Tables and queries' : 'Entities and queries'} value={text} spellcheck={false} onInput={(event) => setText(event.currentTarget.value)} />
          <p class="muted">
            {kind === 'review' ? 'CREATE statements and the queries that use them, with numbers if you know them. Nothing is run.' : 'Entities and queries in the format of sibyl advise design. The search takes up to 8 seconds.'}
          </p>
        </div>
      </Card>
      {error && <ErrorBox error={error} />}
      {busy && <Loading what={kind === 'review' ? 'Reviewing' : 'Searching'} />}
      {answer?.cql && !busy && (
        <Card title={`${plural((answer.design?.tables ?? []).length, 'table')}${answer.design?.proven ? ', proven best' : answer.design ? `, at most ${percent(answer.design.gap)} above the best` : ''}`}>
          <Code text={answer.cql} />
        </Card>
      )}
      {answer?.review && !busy && <ReviewView answer={answer} live={false} keyspace="" onApplied={() => {}} />}
    </>
  );
}

function Live({ keyspace }: { keyspace: string }) {
  const { data, error, loading, reload } = useLoad<Answer>((signal) => get('advisor', keyspace ? { keyspace } : {}, signal), [keyspace]);
  if (error) return <ErrorBox error={error} />;
  if (!data || loading) return <Loading what="Reviewing" />;
  if (!data.review)
    return (
      <Card>
        <Empty title="Nothing to review yet">
          <p>The advisor reviews your tables and the statements that use them.</p>
        </Empty>
      </Card>
    );
  return <ReviewView answer={data} live keyspace={keyspace} onApplied={reload} />;
}

export function AdvisorPage({ route }: PageProps) {
  useTitle('Advisor');
  const tab = (route.parts[1] as 'live' | 'review' | 'design') || 'live';
  const keyspace = route.parameters.get('keyspace') ?? '';
  const [round, setRound] = useState(0);
  return (
    <>
      <PageHead title="Advisor" sub="What will hurt, why, and what to do instead">
        {tab === 'live' && (
          <button type="button" class="button button-quiet" onClick={() => setRound(round + 1)}>
            <Icon name="refresh" size={15} /> Refresh
          </button>
        )}
      </PageHead>
      <Tabs label="Advisor" tabs={[['live', 'This server'], ['review', 'Review a model'], ['design', 'Design a model']]} current={tab} onChange={(next) => go(next === 'live' ? ['advisor'] : ['advisor', next])} />
      {tab === 'live' ? <Live key={round} keyspace={keyspace} /> : <Pasted key={tab} kind={tab} />}
    </>
  );
}
