// The Node driver, unmodified: types, prepared statements, paging, batches, metadata, errors.
// HOST, PORT name the server. Run: node --test
'use strict';
const assert = require('node:assert');
const { test, before, after } = require('node:test');
const cassandra = require('cassandra-driver');
const { types } = cassandra;

const keyspace = 'node' + process.pid;
let client;

function connect(options) {
  return new cassandra.Client(Object.assign({
    contactPoints: [`${process.env.HOST}:${process.env.PORT}`],
    localDataCenter: 'datacenter1',
  }, options));
}

before(async () => {
  const admin = connect();
  await admin.execute(
    `CREATE KEYSPACE ${keyspace} WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}`);
  await admin.shutdown();
  client = connect({ keyspace });
  await client.connect();
});

after(async () => {
  await client.execute(`DROP KEYSPACE ${keyspace}`);
  await client.shutdown();
});

const values = [
  ['ascii', 'plain'], ['bigint', types.Long.fromString('-9223372036854775808')], ['blob', Buffer.from([0, 255])],
  ['boolean', false], ['date', types.LocalDate.fromString('1969-07-20')],
  ['decimal', types.BigDecimal.fromString('-123.4500')], ['double', 1.5e300],
  ['duration', types.Duration.fromString('1y2mo3d4h5m6s')], ['float', 0.25], ['inet', types.InetAddress.fromString('::1')],
  ['int', -2147483648], ['smallint', -32768], ['text', 'žluťoučký 🐎'], ['text', ''],
  ['time', types.LocalTime.fromString('13:30:54.234000001')], ['timestamp', new Date(1296705906789)],
  ['timeuuid', types.TimeUuid.fromString('50554d6e-29bb-11e5-b345-feff819cdc9f')], ['tinyint', -128],
  ['uuid', types.Uuid.fromString('5f2b4a1e-8c1c-4a3e-9b1f-0d7a1c2b3d4e')],
  ['varint', types.Integer.fromString('-10000000000000000000000000000000000000000')],
  ['list<int>', [3, 1, 3]], ['set<text>', ['a', 'b']], ['map<text, int>', { x: 1, y: 2 }],
  ['frozen<list<frozen<map<int, text>>>>', [{ 1: 'a' }, { 2: 'b' }]], ['tuple<int, text>', new types.Tuple(1, 'x')],
  ['vector<float, 3>', new types.Vector(Float32Array.from([1, 2.5, -3]), 'float')],
];

for (const [index, [type, value]] of values.entries()) {
  test(`type ${type} (${index})`, async () => {
    await client.execute(`CREATE TABLE v${index} (k int PRIMARY KEY, v ${type})`);
    await client.execute(`INSERT INTO v${index} (k, v) VALUES (?, ?)`, [1, value], { prepare: true });
    await client.execute(`INSERT INTO v${index} (k, v) VALUES (?, ?)`, [2, null], { prepare: true });
    const one = await client.execute(`SELECT v FROM v${index} WHERE k = ?`, [1], { prepare: true });
    const read = one.first().v;
    assert.deepStrictEqual(JSON.stringify(read.elements || read), JSON.stringify(value.elements || value));
    const none = await client.execute(`SELECT v FROM v${index} WHERE k = 2`);
    assert.strictEqual(none.first().v, null);
  });
}

test('user types', async () => {
  await client.execute('CREATE TYPE address (street text, zip int)');
  await client.execute('CREATE TABLE people (name text PRIMARY KEY, home frozen<address>)');
  await client.execute('INSERT INTO people (name, home) VALUES (?, ?)', ['Ann', { street: 'Elm', zip: 7 }], { prepare: true });
  const row = (await client.execute('SELECT home FROM people')).first();
  assert.strictEqual(row.home.street, 'Elm');
  assert.strictEqual(row.home.zip, 7);
});

test('paging, pages and the row stream', async () => {
  await client.execute('CREATE TABLE pages (p int, c int, PRIMARY KEY (p, c))');
  for (let c = 0; c < 50; c++)
    await client.execute('INSERT INTO pages (p, c) VALUES (1, ?)', [c], { prepare: true });
  const query = 'SELECT c FROM pages WHERE p = 1';
  const first = await client.execute(query, [], { prepare: true, fetchSize: 7 });
  assert.strictEqual(first.rows.length, 7);
  const second = await client.execute(query, [], { prepare: true, fetchSize: 7, pageState: first.pageState });
  assert.deepStrictEqual(second.rows.map((row) => row.c), [7, 8, 9, 10, 11, 12, 13]);
  const all = [];
  for await (const row of client.stream(query, [], { prepare: true, fetchSize: 9, autoPage: true })) all.push(row.c);
  assert.deepStrictEqual(all, [...Array(50).keys()]);
});

test('batches and counters', async () => {
  await client.execute('CREATE TABLE b (k int PRIMARY KEY, v text)');
  await client.execute('CREATE TABLE hits (k int PRIMARY KEY, n counter)');
  await client.batch([
    { query: 'INSERT INTO b (k, v) VALUES (?, ?)', params: [1, 'a'] },
    { query: 'UPDATE b SET v = ? WHERE k = ?', params: ['b', 2] },
  ], { prepare: true });
  assert.strictEqual((await client.execute('SELECT * FROM b')).rows.length, 2);
  await client.batch([
    { query: 'UPDATE hits SET n = n + ? WHERE k = 1', params: [types.Long.fromInt(5)] },
    { query: 'UPDATE hits SET n = n - ? WHERE k = 1', params: [types.Long.fromInt(2)] },
  ], { prepare: true, counter: true });
  assert.strictEqual((await client.execute('SELECT n FROM hits')).first().n.toString(), '3');
});

test('concurrent prepared statements', async () => {
  await client.execute('CREATE TABLE c (k int PRIMARY KEY, v text)');
  const parameters = [...Array(1000).keys()].map((k) => [k, `v${k}`]);
  const written = await cassandra.concurrent.executeConcurrent(
    client, 'INSERT INTO c (k, v) VALUES (?, ?)', parameters, { prepare: true });
  assert.strictEqual(written.errors.length, 0);
  const read = await cassandra.concurrent.executeConcurrent(
    client, 'SELECT v FROM c WHERE k = ?', parameters.map(([k]) => [k]), { prepare: true, collectResults: true });
  assert.deepStrictEqual(read.resultItems.map((item) => item.first().v), parameters.map(([, v]) => v));
});

test('metadata', async () => {
  await client.execute(`CREATE TABLE m (site text, day date, at timestamp, note text STATIC, value double,
    PRIMARY KEY ((site, day), at)) WITH CLUSTERING ORDER BY (at DESC) AND comment = 'measured'`);
  const table = await client.metadata.getTable(keyspace, 'm');
  assert.deepStrictEqual(table.partitionKeys.map((column) => column.name), ['site', 'day']);
  assert.deepStrictEqual(table.clusteringKeys.map((column) => column.name), ['at']);
  assert.deepStrictEqual(table.clusteringOrder, ['DESC']);
  assert.strictEqual(table.comment, 'measured');
  assert.ok(client.metadata.keyspaces[keyspace]);
});

test('errors', async () => {
  const { responseErrorCodes } = types;
  await assert.rejects(client.execute('SELEC 1'), (error) => error.code === responseErrorCodes.syntaxError);
  await assert.rejects(client.execute('SELECT * FROM missing'), (error) => error.code === responseErrorCodes.invalid);
});
