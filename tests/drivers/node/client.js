// The Node driver, unmodified. See harness.py for what it is told and what it prints.
'use strict';
const assert = require('node:assert');
const fs = require('node:fs');
const readline = require('node:readline');
const cassandra = require('cassandra-driver');
const schemaChanges = require('./schema_changes');
const { types } = cassandra;

const { SIBYL_HOST: host, SIBYL_PORT: port } = process.env;
const prepare = { prepare: true };
let client;

const say = (line) => console.log(JSON.stringify(line));
const same = (found, expected) => assert.deepStrictEqual(found, expected);
const notOffered = (check, why) => say({ check, ok: null, detail: why });

async function check(feature, detail, body) {
  try {
    await body();
    say({ check: feature, ok: true, detail });
  } catch (wrong) {
    say({ check: feature, ok: false, detail: `${detail}: ${wrong.message}` });
  }
}

async function eventually(seconds, holds) {
  const deadline = Date.now() + seconds * 1000;
  for (let last; ; await new Promise((wake) => setTimeout(wake, 50))) {
    try {
      if (await holds()) return;
    } catch (wrong) {
      last = wrong;
    }
    assert.ok(Date.now() < deadline, `not within ${seconds} s; last: ${last}`);
  }
}

function connect(options) {
  return new cassandra.Client({
    contactPoints: [`${host}:${port}`],
    localDataCenter: 'datacenter1',
    policies: { reconnection: new cassandra.policies.reconnection.ConstantReconnectionPolicy(200) },
    ...options,
  });
}

async function using(options, body) {
  const one = connect(options);
  try {
    await one.connect();
    await body(one);
  } finally {
    await one.shutdown();
  }
}

const large = '10000000000000000000000000000000000000000';
const scalars = [
  ['ascii', "'plain ~'", 'plain ~'], ['ascii', "''", ''],
  ['bigint', '-9223372036854775808', types.Long.MIN_VALUE], ['bigint', '9223372036854775807', types.Long.MAX_VALUE],
  ['blob', '0x00ff', Buffer.from([0, 255])], ['blob', '0x', Buffer.alloc(0)],
  ['boolean', 'true', true], ['boolean', 'false', false],
  ['date', "'1969-07-20'", types.LocalDate.fromString('1969-07-20')],
  ['date', "'0001-01-01'", new types.LocalDate(-719162)],
  ['date', "'9999-12-31'", types.LocalDate.fromString('9999-12-31')],
  ['decimal', '-123.4500', types.BigDecimal.fromString('-123.4500')],
  ['decimal', '0.00000000000000000001', types.BigDecimal.fromString('0.00000000000000000001')],
  ['decimal', `${large}.5`, types.BigDecimal.fromString(`${large}.5`)],
  ['double', '1.7976931348623157E308', Number.MAX_VALUE], ['double', '4.9E-324', Number.MIN_VALUE],
  ['double', 'NaN', NaN], ['double', '-Infinity', -Infinity],
  ['duration', '1y2mo3d4h5m6s7ns', new types.Duration(14, 3, types.Long.fromString('14706000000007'))],
  ['duration', '-2mo1d1ns', new types.Duration(-2, -1, types.Long.fromInt(-1))],
  ['float', '3.4028235E38', Math.fround(3.4028235e38)], ['float', '1.4E-45', Math.fround(1.4e-45)], ['float', 'Infinity', Infinity],
  ['inet', "'127.0.0.1'", types.InetAddress.fromString('127.0.0.1')],
  ['inet', "'2001:db8::1'", types.InetAddress.fromString('2001:db8::1')],
  ['int', '-2147483648', -(2 ** 31)], ['int', '2147483647', 2 ** 31 - 1],
  ['smallint', '-32768', -32768], ['smallint', '32767', 32767],
  ['text', "'žluťoučký 🐎'", 'žluťoučký 🐎'], ['text', "''", ''],
  ['time', "'00:00:00'", types.LocalTime.fromString('00:00:00')],
  ['time', "'23:59:59.999999999'", types.LocalTime.fromString('23:59:59.999999999')],
  ['timestamp', '0', new Date(0)], ['timestamp', '-1', new Date(-1)],
  ['timestamp', "'9999-12-31 23:59:59.999Z'", new Date('9999-12-31T23:59:59.999Z')],
  ['timeuuid', '50554d6e-29bb-11e5-b345-feff819cdc9f', types.TimeUuid.fromString('50554d6e-29bb-11e5-b345-feff819cdc9f')],
  ['tinyint', '-128', -128], ['tinyint', '127', 127],
  ['uuid', '00000000-0000-0000-0000-000000000000', types.Uuid.fromString('00000000-0000-0000-0000-000000000000')],
  ['uuid', 'ffffffff-ffff-ffff-ffff-ffffffffffff', types.Uuid.fromString('ffffffff-ffff-ffff-ffff-ffffffffffff')],
  ['varint', `-${large}`, types.Integer.fromString(`-${large}`)], ['varint', '0', types.Integer.ZERO],
  ['varint', '128', types.Integer.fromInt(128)], ['varint', '-129', types.Integer.fromInt(-129)],
];

async function bothWays(column, literal, value) {
  await client.execute(`INSERT INTO scalars (k, ${column}) VALUES ('literal', ${literal})`);
  await client.execute(`INSERT INTO scalars (k, ${column}) VALUES (?, ?)`, ['bound', value], prepare);
  for (const key of ['literal', 'bound']) {
    const found = (await client.execute(`SELECT ${column} AS v FROM scalars WHERE k = ?`, [key], prepare)).first().v;
    if (value && typeof value.equals === 'function') {
      assert.ok(value.equals(found), `expected ${value}, found ${found}`);
      same(found.toString(), value.toString());
    } else {
      same(found, value);
    }
  }
  if (column === 'c_duration') return; // has no order, nor a comparison
  const equal = `SELECT k FROM scalars WHERE k = 'bound' AND ${column} = ${literal} ALLOW FILTERING`;
  same((await client.execute(equal)).first().k, 'bound');
}

async function connects() {
  await using({}, async (one) => {
    const row = (await one.execute('SELECT cluster_name, release_version FROM system.local')).first();
    const [only, ...others] = one.hosts.values();
    same([others.length, only.datacenter, only.cassandraVersion], [0, 'datacenter1', row.release_version]);
    assert.ok(row.cluster_name.length > 0);
  });
}

async function metadata() {
  const table = await client.metadata.getTable('clients', 'measurements');
  const names = (columns) => columns.map((column) => column.name);
  same([names(table.partitionKeys), names(table.clusteringKeys)], [['site', 'day'], ['at', 'sensor']]);
  same([table.clusteringOrder, table.comment, table.columnsByName.note.isStatic], [['DESC', 'ASC'], 'what was measured', true]);
  same([table.indexes[0].name, table.indexes[0].target], ['measurements_by_value', 'value']);
  const view = await client.metadata.getMaterializedView('clients', 'by_sensor');
  same([view.tableName, names(view.partitionKeys)], ['measurements', ['sensor']]);
  const address = await client.metadata.getUdt('clients', 'address');
  same(names(address.fields), ['street', 'zip', 'phones']);
  const plus = await client.metadata.getFunction('clients', 'plus', ['int', 'int']);
  same([plus.argumentNames, plus.returnType.code], [['state', 'value'], types.dataTypes.int]);
  const total = await client.metadata.getAggregate('clients', 'total', ['int']);
  same([total.stateFunction, total.initCondition], ['plus', '0']);
  same(client.metadata.keyspaces.clients.strategyOptions.replication_factor, '1');
}

function tokenMap() {
  const ranges = [...client.metadata.getTokenRanges()];
  assert.ok(ranges.length > 0);
  same(client.metadata.getReplicas('clients', Buffer.from('abc')).map((replica) => replica.address), [`${host}:${port}`]);
}

/** The driver's own policy; it tells the routing key of the last statement. */
class WatchedPolicy extends cassandra.policies.loadBalancing.TokenAwarePolicy {
  newQueryPlan(keyspace, options, callback) {
    this.last = (options && options.getRoutingKey()) || this.last;
    super.newQueryPlan(keyspace, options, callback);
  }
}

async function routing() {
  const { DCAwareRoundRobinPolicy } = cassandra.policies.loadBalancing;
  const loadBalancing = new WatchedPolicy(new DCAwareRoundRobinPolicy('datacenter1'));
  await using({ keyspace: 'clients', policies: { loadBalancing } }, async (one) => {
    const token = () => one.metadata.newToken(loadBalancing.last).getValue().toString();
    for (const a of [7, -1, 2 ** 31 - 1]) {
      await one.execute('INSERT INTO routes (v, b, a) VALUES (?, ?, ?)', [1, 'x', a], prepare);
      const row = (await one.execute('SELECT token(a, b) AS t FROM routes WHERE a = ? AND b = ?', [a, 'x'], prepare)).first();
      same(token(), row.t.toString());
    }
    for (const k of ['a', 'žluťoučký', 'a key of more than sixteen bytes']) {
      await one.execute('INSERT INTO routes_one (k, v) VALUES (?, ?)', [k, 1], prepare);
      const row = (await one.execute('SELECT token(k) AS t FROM routes_one WHERE k = ?', [k], prepare)).first();
      same(token(), row.t.toString());
    }
  });
}

async function prepared() {
  await client.execute('INSERT INTO plain (k, a, b) VALUES (:k, :a, :b)', { a: 2, b: 'three', k: 1 }, prepare);
  const read = 'SELECT * FROM plain WHERE k = ?';
  const row = (await client.execute(read, [1], prepare)).first();
  same([row.k, row.a, row.b], [1, 2, 'three']);
  await client.execute('ALTER TABLE plain ADD extra int');
  await client.execute('UPDATE plain SET extra = 9 WHERE k = 1');
  same((await client.execute(read, [1], prepare)).first().extra, 9);
  await client.execute('ALTER TABLE plain DROP extra');
  const parameters = [...Array(1000).keys()].map((k) => [k + 5000, k]);
  const insert = 'INSERT INTO plain (k, a) VALUES (?, ?)';
  const written = await cassandra.concurrent.executeConcurrent(client, insert, parameters, prepare);
  same(written.errors.length, 0);
  const found = await cassandra.concurrent.executeConcurrent(client, 'SELECT a FROM plain WHERE k = ?',
    parameters.map(([k]) => [k]), { prepare: true, collectResults: true });
  same(found.resultItems.map((item) => item.first().a), parameters.map(([, a]) => a));
}

async function paging() {
  for (let c = 0; c < 50; c++) await client.execute('INSERT INTO pages (p, c) VALUES (1, ?)', [c], prepare);
  const query = 'SELECT c FROM pages WHERE p = ?';
  const all = [];
  for await (const row of client.stream(query, [1], { prepare: true, fetchSize: 7, autoPage: true })) all.push(row.c);
  same(all, [...Array(50).keys()]);
  const first = await client.execute(query, [1], { prepare: true, fetchSize: 7 });
  same(first.rows.length, 7);
  const rest = await client.execute(query, [1], { prepare: true, fetchSize: 100, pageState: first.pageState });
  same(rest.rows.map((row) => row.c), all.slice(7));
}

async function collections() {
  const insert = 'INSERT INTO collections (k, l, s, m, fl, deep) VALUES (?, ?, ?, ?, ?, ?)';
  const read = async (k) => (await client.execute('SELECT l, s, m, fl, deep FROM collections WHERE k = ?', [k], prepare)).first();
  const values = [[3, 1, 3], ['', 'a', 'b'], { x: 1, y: -(2 ** 31) }, [{ 1: 'a' }, {}, { 2: 'b' }], { k: [[1, 2], [3]] }];
  await client.execute(insert, [1, ...values], prepare);
  let row = await read(1);
  same(JSON.parse(JSON.stringify([row.l, row.s, row.m, row.fl, row.deep])), values);
  await client.execute(insert, [2, [], [], {}, [], {}], prepare);
  row = await read(2);
  same([row.l, row.s, row.m, row.fl], [null, null, null, null]); // this driver sends null for what is empty
  await client.execute("UPDATE collections SET l = l + [9], m['z'] = 5, s = s - {'a'} WHERE k = 1");
  row = await read(1);
  same([row.l, row.s, row.m.z], [[3, 1, 3, 9], ['', 'b'], 5]);
}

async function userTypes() {
  const home = { street: 'Elm 1', zip: 12345, phones: ['+1', '+2'] };
  await client.execute('INSERT INTO people (name, home, others, pair) VALUES (?, ?, ?, ?)',
    ['Ann', home, [{ street: 'x' }, home], new types.Tuple(1, 'x', null)], prepare);
  const row = (await client.execute("SELECT home, others, pair, home.zip AS zip FROM people WHERE name = 'Ann'")).first();
  same(JSON.parse(JSON.stringify([row.home, row.others, row.pair.elements, row.zip])),
    [home, [{ street: 'x', zip: null, phones: null }, home], [1, 'x', null], 12345]);
}

async function vector() {
  const value = new types.Vector(Float32Array.from([1, 2.5, -3]), 'float');
  await client.execute('INSERT INTO vectors (k, v) VALUES (?, ?)', [1, value], prepare);
  const row = (await client.execute('SELECT v FROM vectors WHERE k = 1')).first();
  same([...row.v], [1, 2.5, -3]);
  same((await client.execute('SELECT k FROM vectors WHERE k = 1 AND v = [1, 2.5, -3] ALLOW FILTERING')).rows.length, 1);
}

async function absent() {
  const insert = 'INSERT INTO plain (k, a, b) VALUES (?, ?, ?)';
  const read = async () => Object.values((await client.execute('SELECT a, b FROM plain WHERE k = 10')).first());
  await client.execute(insert, [10, 1, ''], prepare);
  await client.execute(insert, [10, types.unset, types.unset], prepare);
  same(await read(), [1, '']);
  await client.execute(insert, [10, null, null], prepare);
  same(await read(), [null, null]);
}

async function batches() {
  for (const [base, logged] of [[100, true], [200, false]]) {
    await client.batch([
      { query: 'INSERT INTO plain (k, a) VALUES (?, ?)', params: [base, 1] },
      { query: 'INSERT INTO plain (k, b) VALUES (?, ?)', params: [base + 1, 'text'] },
    ], { prepare: true, logged });
    await client.batch([`INSERT INTO plain (k, a) VALUES (${base + 2}, 1)`, 'DELETE FROM plain WHERE k = 1000'], { logged });
    const keys = [base, base + 1, base + 2];
    same((await client.execute('SELECT k FROM plain WHERE k IN (?, ?, ?)', keys, prepare)).rows.length, 3);
  }
}

async function counters() {
  const query = 'UPDATE hits SET n = n + ? WHERE k = 1';
  const add = [5, -2, 10].map((delta) => ({ query, params: [types.Long.fromInt(delta)] }));
  await client.batch(add, { prepare: true, counter: true });
  same((await client.execute('SELECT n FROM hits WHERE k = 1')).first().n.toString(), '13');
  await assert.rejects(client.batch(add, prepare), (error) => error.code === types.responseErrorCodes.invalid);
}

async function conditions() {
  const insert = 'INSERT INTO accounts (k, c, v) VALUES (?, ?, ?) IF NOT EXISTS';
  const update = 'UPDATE accounts SET v = ? WHERE k = ? AND c = ? IF v = ?';
  const local = { prepare: true, serialConsistency: types.consistencies.localSerial };
  same((await client.execute(insert, [1, 1, 7], prepare)).wasApplied(), true);
  const refused = await client.execute(insert, [1, 1, 8], prepare);
  same([refused.wasApplied(), refused.first().v, refused.first().w], [false, 7, null]);
  same((await client.execute(update, [9, 1, 1, 7], local)).wasApplied(), true);
  const stale = await client.execute(update, [9, 1, 1, 7], local);
  same([stale.wasApplied(), stale.first().v], [false, 9]);
  const both = [{ query: update, params: [10, 1, 1, 9] }, { query: insert, params: [1, 2, 2] }];
  for (const applied of [true, false]) same((await client.batch(both, prepare)).wasApplied(), applied);
  const serial = { consistency: types.consistencies.serial };
  same((await client.execute('SELECT v FROM accounts WHERE k = 1 AND c = 1', [], serial)).first().v, 10);
}

async function errors() {
  const code = types.responseErrorCodes;
  const fails = (query, expected, parameters) =>
    assert.rejects(client.execute(query, parameters || [], { prepare: !!parameters }), (error) =>
      error instanceof cassandra.errors.ResponseError && error.code === expected);
  await fails('SELEC * FROM plain', code.syntaxError);
  await fails('SELECT nope FROM plain', code.invalid);
  await fails('CREATE TABLE plain (k int PRIMARY KEY)', code.alreadyExists);
  await fails("CREATE KEYSPACE x WITH replication = {'class': 'NoSuchStrategy'}", code.configError);
  await fails('SELECT * FROM plain WHERE k = ?', code.invalid, [null]);
  const counted = await client.execute('SELECT count(*) FROM plain');
  assert.match(counted.info.warnings[0], /Aggregation query used without partition key/);
}

async function events() {
  await using({}, async (other) => {
    await client.execute("CREATE KEYSPACE seen WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    await eventually(20, () => other.metadata.keyspaces.seen);
    await client.execute('CREATE TABLE seen.t (k int PRIMARY KEY)');
    await eventually(20, async () => (await other.metadata.getTable('seen', 't')).columns.length === 1);
    await client.execute('ALTER TABLE seen.t ADD v int'); // what the other has kept must go
    await eventually(20, async () => (await other.metadata.getTable('seen', 't')).columns.length === 2);
    await client.execute('DROP KEYSPACE seen');
    await eventually(20, () => !other.metadata.keyspaces.seen);
  });
}

async function tracing() {
  const { info } = await client.execute('SELECT * FROM plain WHERE k = 10', [], { traceQuery: true });
  const trace = await client.metadata.getTrace(info.traceId);
  same([trace.requestType, trace.parameters.query], ['Execute CQL3 query', 'SELECT * FROM plain WHERE k = 10']);
  assert.ok(trace.duration > 0 && trace.events.length > 0);
}

async function restart() {
  const read = async () => (await client.execute('SELECT a FROM plain WHERE k = ?', [300], prepare)).first().a;
  await client.execute('INSERT INTO plain (k, a) VALUES (300, 42)');
  same(await read(), 42);
  say({ ask: 'restart' });
  const answers = readline.createInterface({ input: process.stdin });
  const answer = await new Promise((answered) => answers.once('line', answered));
  answers.close();
  if (answer !== 'done') return notOffered('re-prepared', 'the server is not ours to restart');
  await eventually(30, async () => (await client.execute('SELECT a FROM plain WHERE k = 300')).first().a === 42);
  return check('re-prepared', 'the same statement', async () => same(await read(), 42));
}

async function secured() {
  const { SIBYL_USER: user, SIBYL_PASSWORD: password, SIBYL_CA: authority } = process.env;
  const login = (name, secret, ca = [fs.readFileSync(authority)]) => ({
    sslOptions: { ca, host, rejectUnauthorized: true },
    authProvider: new cassandra.auth.PlainTextAuthProvider(name, secret),
  });
  const inner = (error) => Object.values(error.innerErrors)[0];
  await check('tls', 'the certificate is checked', async () => {
    await using(login(user, password), async (one) =>
      same((await one.execute('SELECT key FROM system.local')).first().key, 'local'));
    await assert.rejects(using(login(user, password, []), () => {}), (error) => /certificate/.test(inner(error).message));
  });
  await check('login', 'a role of its own, what it may and may not', async () => {
    await using(login(user, password), async (one) => {
      await one.execute("CREATE KEYSPACE secrets WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
      await one.execute('CREATE TABLE secrets.t (k int PRIMARY KEY)');
      await one.execute("CREATE ROLE reader WITH PASSWORD = 'paper' AND LOGIN = true");
      await one.execute('GRANT SELECT ON secrets.t TO reader');
    });
    await using(login('reader', 'paper'), async (one) => {
      same((await one.execute('SELECT * FROM secrets.t')).rows.length, 0);
      await assert.rejects(one.execute('INSERT INTO secrets.t (k) VALUES (1)'),
        (error) => error.code === types.responseErrorCodes.unauthorized);
    });
  });
  await check('login', 'a wrong password', () =>
    assert.rejects(using(login(user, `${password}x`), () => {}),
      (error) => inner(error) instanceof cassandra.errors.AuthenticationError));
}

async function main() {
  say({ version: cassandra.version });
  if (process.env.SIBYL_MODE === 'secured') return secured();
  await check('connect', 'without a keyspace', connects);
  await using({}, async (admin) => {
    for (const statement of fs.readFileSync(process.env.SIBYL_SCHEMA, 'utf8').trim().split(';\n')) await admin.execute(statement);
  });
  client = connect({ keyspace: 'clients' });
  await client.connect();
  for (const [kind, literal, value] of scalars)
    await check('scalars', `${kind} ${literal}`, () => bothWays(`c_${kind}`, literal, value));
  const checks = {
    metadata, 'token map': tokenMap, routing, prepared, paging, collections, 'user types': userTypes, vector,
    'absent values': absent, batches, counters, conditions, errors, events, tracing,
  };
  for (const [feature, body] of Object.entries(checks)) await check(feature, '', body);
  await schemaChanges(check, using);
  for (const compression of ['lz4', 'snappy']) notOffered(compression, 'this driver does not compress');
  notOffered('v5', 'this driver speaks version 4 at most');
  await check('restart', 'within 30 s', restart);
  return client.shutdown();
}

main().then(() => process.exit(0), (wrong) => {
  console.error(wrong);
  process.exit(1);
});
