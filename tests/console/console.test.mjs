// Each page's main task.
import assert from 'node:assert/strict';
import { availableParallelism, loadavg } from 'node:os';
import { after, before, test } from 'node:test';
import { Api, Browser, CqlClient, loadShop, replication, Server, writeQuery } from './harness.mjs';

let server, browser, api;
before(async () => {
  [server, browser] = await Promise.all([Server.start([], { data: 'directory' }), Browser.start()]);
  api = new Api(server);
  await api.begin();
  await loadShop(api);
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

// Milliseconds until the charts of the overview are painted, in a browser that has kept nothing, and seconds of the processor.
async function timeFirstView() {
  const page = await browser.open(server, '', {}, 'about:blank');
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  await page.addInitScript(() => {
    const observer = new MutationObserver(() => {
      if (document.querySelectorAll('.chart canvas').length < 8) return;
      observer.disconnect();
      requestAnimationFrame(() => requestAnimationFrame(() => (window.paintedAt = performance.now())));
    });
    observer.observe(document, { childList: true, subtree: true });
  });
  await page.goto(server.url);
  await page.waitForFunction(() => window.paintedAt > 0);
  const wall = await page.evaluate(() => window.paintedAt); // since the navigation began
  const { metrics } = await devtools.send('Performance.getMetrics');
  await browser.close(page);
  return { wall, busy: metrics.find((one) => one.name === 'TaskDuration').value };
}

test('the overview shows requests within its budget', async () => {
  const page = await browser.open(server);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.locator('.chart canvas').first().waitFor();
  assert.match(await page.locator('.stats').innerText(), /Uptime/);
  assert.ok(page.bytes < 400 * 1024, `the first view took ${page.bytes} bytes`);
  // The best of some visits of new browsers, because other programs may take the processor meanwhile.
  const visits = [];
  for (let i = 0; i < 5; ++i) visits.push(await timeFirstView());
  const wall = Math.min(...visits.map((one) => one.wall));
  const busy = Math.min(...visits.map((one) => one.busy));
  // Where more than five programs want each processor, the wall time is theirs.
  const isOverloaded = loadavg()[0] > 5 * availableParallelism();
  assert.ok(wall > 10 && (wall < 1000 || isOverloaded), `the first view took ${wall} ms`);
  assert.ok(busy > 0.01 && busy < 0.5, `the first view took ${busy} s of the processor`);
  const before = server.cpuSeconds();
  await page.waitForTimeout(10_000); // long enough for several updates of the charts
  const used = server.cpuSeconds() - before;
  assert.ok(used < 0.1, `the open overview took ${used * 10}% of a core`);
  await browser.close(page);
});

test('the overview warns of overload', async () => {
  const limited = await Server.start(['--set', 'native_transport_rate_limiting_enabled=true', '--set', 'native_transport_max_requests_per_second=1', '--set', 'native_transport_max_concurrent_connections=1']);
  try {
    const client = await CqlClient.connect(limited, { THROW_ON_OVERLOAD: '1' });
    const answers = await Promise.all(Array.from({ length: 20 }, () => client.query('SELECT key FROM system.local')));
    assert.ok(answers.some((one) => one.error === 0x1001), JSON.stringify(answers));
    await assert.rejects(CqlClient.connect(limited), /closed/);
    const page = await browser.open(limited);
    await page.getByText(/Overload: \d+ requests were refused/).waitFor({ timeout: 40_000 });
    await page.getByText(/1 connections? w\w+ refused within the last minute/).waitFor();
    client.close();
    await browser.close(page);
  } finally {
    await limited.stop();
  }
});

test('the overview warns of hot partitions and of tombstones', async () => {
  await api.run(`CREATE KEYSPACE warned ${replication}`);
  await api.run('CREATE TABLE warned.dead (k int, c int, PRIMARY KEY (k, c))');
  const each = (count, text) => api.run(`BEGIN UNLOGGED BATCH ${Array.from({ length: count }, (_, i) => text(i)).join(' ')} APPLY BATCH`);
  await each(1500, (i) => `INSERT INTO warned.dead (k, c) VALUES (1, ${i});`);
  await each(1500, (i) => `DELETE FROM warned.dead WHERE k = 1 AND c = ${i};`);
  for (let i = 0; i < 1100; ++i) await api.run('SELECT * FROM warned.dead WHERE k = 1 LIMIT 1');
  const page = await browser.open(server);
  const warnings = page.getByRole('list', { name: 'Warnings' });
  await warnings.getByText(/One partition, 1, gets 100% of all reads/).waitFor({ timeout: 40_000 });
  await warnings.getByText(/Reads meet 1,?\d+ tombstones/).waitFor();
  await warnings.getByRole('link', { name: 'warned.dead' }).first().click();
  await page.getByRole('heading', { name: /dead/ }).waitFor();
  await api.run('DROP KEYSPACE warned');
  await browser.close(page);
});

test('a query is completed, explained, run, paged and exported', async () => {
  const page = await browser.open(server, '#/query');
  await page.getByLabel('Keyspace').selectOption('shop');
  await writeQuery(page, 'SELECT * FROM ord');
  await page.keyboard.press('Control+Space');
  await page.locator('.cm-tooltip-autocomplete li', { hasText: 'orders' }).first().click();
  await page.keyboard.insertText(" WHERE customer = 'c1'");
  await page.locator('.plan li', { hasText: 'read partition' }).waitFor();
  await page.getByLabel('Rows per page').selectOption('20');
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+Enter');
  await page.locator('.grid tbody tr').nth(19).waitFor();
  assert.equal(await page.locator('.grid tbody tr').count(), 20);
  assert.equal(await page.locator('.grid thead th').nth(2).innerText().then((text) => text.replace(/\s+/g, ' ')), 'paid boolean');
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('Page 2').waitFor();
  assert.match(await page.locator('.grid tbody tr').first().innerText(), /101/);
  const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save JSON' }).click()]);
  const rows = JSON.parse(await (await import('node:fs/promises')).readFile(await saved.path(), 'utf8'));
  assert.equal(rows.length, 40);
  assert.deepEqual(rows[0], { customer: 'c1', number: 1, paid: true, tags: ['a', 'b'], total: 1.5 });
  await browser.close(page);
});

test('an error is under its word, and its hint is a quick fix', async () => {
  const page = await browser.open(server, '#/query');
  await page.getByLabel('Keyspace').selectOption('shop');
  await writeQuery(page, "SELECT * FROM shop.orders WHERE custommer = 'c1'");
  await page.locator('.plan-error').waitFor();
  await page.locator('.cm-lintRange-error').waitFor();
  assert.equal(await page.locator('.cm-lintRange-error').innerText(), 'custommer');
  await page.locator('.cm-lintRange-error').hover();
  await page.locator('.cm-diagnosticAction').click();
  await page.locator('.plan li').first().waitFor();
  assert.match(await page.locator('.cm-content').innerText(), /WHERE customer = 'c1'/);
  await browser.close(page);
});

test('definitions are checked as they are typed, and what only running finds is marked', async () => {
  const page = await browser.open(server, '#/query');
  await page.getByLabel('Keyspace').selectOption('shop');
  const marked = page.locator('.cm-lintRange-error');
  const check = async (text, word) => {
    await writeQuery(page, text);
    await page.locator('.plan-error').waitFor();
    await marked.waitFor();
    assert.equal(await marked.innerText(), word, text);
  };
  await check('CREATE TABLE orders2 (a strng PRIMARY KEY)', 'strng');
  await check('DROP TABLE nothing', 'nothing');
  await check('ALTER TABLE orders ADD total int', 'total');
  // A statement may use what those before it define.
  await writeQuery(page, 'CREATE TABLE shop.later (k int PRIMARY KEY, v int); SELECT v FROM shop.later WHERE k = 1; SELECT w FROM shop.later');
  await page.keyboard.press('Control+Home');
  await page.locator('.plan li', { hasText: 'define' }).waitFor();
  assert.deepEqual(await marked.allInnerTexts(), ['w']);
  // The fix of a qualified name replaces the table, not its keyspace.
  await check("SELECT * FROM shop.ordrs WHERE customer = 'c1'", 'ordrs');
  await marked.hover();
  await page.locator('.cm-diagnosticAction', { hasText: 'Replace with orders' }).click();
  await page.locator('.plan li').first().waitFor();
  assert.equal(await page.locator('.cm-content').innerText(), "SELECT * FROM shop.orders WHERE customer = 'c1'");
  await writeQuery(page, 'CREATE TABLE t (a frozen<list<int>>, b int) WITH gc_grace_seconds = 5');
  await marked.first().hover();
  await page.locator('.cm-diagnosticAction', { hasText: 'Add PRIMARY KEY (a)' }).click();
  await page.locator('.plan li').first().waitFor();
  assert.equal(await page.locator('.cm-content').innerText(), 'CREATE TABLE t (a frozen<list<int>>, b int, PRIMARY KEY (a)) WITH gc_grace_seconds = 5');
  await check('SELECT * FROM shop.orders WHERE total = 1', 'total');
  await marked.hover();
  await page.locator('.cm-diagnosticAction', { hasText: 'Create an index first' }).click();
  await page.getByText('It has a plan when the definitions before it have been run').waitFor();
  assert.match(await page.locator('.cm-content').innerText(), /^CREATE INDEX ON shop.orders \(total\) USING 'sai';\nSELECT \* FROM shop.orders WHERE total = 1$/);
  // The function fails only when it runs.
  await api.run('CREATE FUNCTION shop.fails (n int) CALLED ON NULL INPUT RETURNS int LANGUAGE lua AS $$ error("no") $$');
  await writeQuery(page, 'SELECT shop.fails(number) FROM shop.orders');
  await page.locator('.plan li').first().waitFor();
  assert.equal(await marked.count(), 0);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.locator('.results [role=alert]').waitFor();
  await marked.waitFor();
  assert.equal(await marked.innerText(), 'fails');
  await browser.close(page);
});

test('completion knows what a statement may begin with, and types', async () => {
  await api.run('CREATE TYPE shop.size (height int, width int)');
  const page = await browser.open(server, '#/query');
  await page.getByLabel('Keyspace').selectOption('shop');
  const offers = page.locator('.cm-tooltip-autocomplete li');
  const first = async (text) => {
    await writeQuery(page, text);
    await page.keyboard.press('Control+Space');
    await offers.first().waitFor();
    const found = await offers.allInnerTexts();
    await page.keyboard.press('Escape');
    await offers.first().waitFor({ state: 'detached' });
    return found;
  };
  assert.deepEqual((await first('')).slice(0, 3), ['SELECT', 'INSERT', 'UPDATE']);
  const types = await first('CREATE TABLE t (a ');
  assert.ok(types.includes('size') && types.includes('timeuuid') && !types.includes('orders'), types.join());
  assert.match((await first('SELECT * FROM orders WHERE '))[0], /^customer/);
  // A column that is named like a type is no type.
  const isPlain = async (word) => (await page.locator('.cm-line span', { hasText: new RegExp(`^${word}$`) }).count()) === 0;
  await writeQuery(page, 'SELECT time FROM t; CREATE TABLE t (k uuid)');
  await page.locator('.cm-line span', { hasText: /^uuid$/ }).waitFor();
  assert.ok(await isPlain('time'));
  assert.ok(!(await isPlain('uuid')));
  await browser.close(page);
});

test('values are bound, nulls are shown, a trace is a waterfall', async () => {
  await api.run("INSERT INTO shop.orders (customer, number) VALUES ('nobody', 1)");
  const page = await browser.open(server, '#/query');
  await writeQuery(page, 'SELECT customer, total, paid FROM shop.orders WHERE customer = ? AND number = ?');
  await page.locator('.binds input').nth(1).waitFor();
  await page.locator('.binds input').nth(0).fill('nobody');
  await page.locator('.binds input').nth(1).fill('1');
  await page.getByRole('checkbox', { name: 'Trace' }).check();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.locator('.grid .null').first().waitFor();
  assert.equal(await page.locator('.grid .null').count(), 2);
  await page.getByRole('button', { name: 'Trace' }).click();
  await page.locator('.waterfall li').first().waitFor();
  // A value that was erased is an empty text, and not null until it is set to null.
  await page.locator('.binds input').nth(0).fill('');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.locator('.results').getByText('Key may not be empty').waitFor();
  await page.locator('.binds').getByRole('button', { name: 'null' }).first().click();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.locator('.results').getByText('Invalid null value in condition for column customer').waitFor();
  await browser.close(page);
});

test('several statements run in turn, until one fails', async () => {
  const page = await browser.open(server, '#/query');
  await writeQuery(page, `CREATE KEYSPACE several ${replication}; USE several; CREATE TABLE t (a int PRIMARY KEY); INSERT INTO t (a) VALUES (1); SELECT * FROM t; SELECT * FROM nowhere; SELECT * FROM t`);
  await page.getByRole('button', { name: 'Run all' }).click();
  await page.getByRole('alert').waitFor();
  assert.equal(await page.locator('.results [role=tab]').count(), 6);
  await page.getByRole('tab', { name: /^5/ }).click();
  assert.equal(await page.locator('.grid tbody td').first().innerText(), '1');
  await browser.close(page);
});

test('a statement that runs long is cancelled', async () => {
  await api.run('CREATE TABLE shop.many (k int, c int, PRIMARY KEY (k, c))');
  for (let i = 0; i < 20; ++i)
    await api.run(`BEGIN UNLOGGED BATCH ${Array.from({ length: 400 }, (_, j) => `INSERT INTO shop.many (k, c) VALUES (${i}, ${j});`).join(' ')} APPLY BATCH`);
  // A function that takes a while for each row.
  await api.run("CREATE FUNCTION shop.slow (n int) CALLED ON NULL INPUT RETURNS int LANGUAGE lua AS $$ local x = 0 for i = 1, 200000 do x = x + i % 7 end return n $$");
  const page = await browser.open(server, '#/query');
  await writeQuery(page, 'SELECT max(shop.slow(c)) FROM shop.many');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('The statement was cancelled').waitFor();
  await browser.close(page);
});

test('the schema is searched, and shows diagrams and definitions', async () => {
  await api.run('CREATE TYPE shop.address (street text, city text)');
  const page = await browser.open(server, '#/schema/shop');
  await page.locator('.diagram img').waitFor();
  const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save SVG' }).click()]);
  assert.match(await (await import('node:fs/promises')).readFile(await saved.path(), 'utf8'), /<svg [^]*orders/);
  // A wide diagram fits a laptop.
  await api.run(`CREATE KEYSPACE broad ${replication}`);
  for (let i = 0; i < 12; ++i) await api.run(`CREATE TABLE broad.with_a_rather_long_name_${i} (k int, c timestamp, PRIMARY KEY (k, c))`);
  await page.goto(`${server.url}/#/schema/broad`);
  await page.locator('.diagram img').waitFor();
  const widths = await page.locator('.diagram img').evaluate((image) => ({ natural: image.naturalWidth, shown: image.clientWidth, place: image.parentElement.clientWidth }));
  assert.ok(widths.natural > widths.place && widths.shown <= widths.place, JSON.stringify(widths));
  await page.getByLabel('Search the schema').fill('addr');
  await page.getByRole('link', { name: 'address' }).click();
  await page.getByText('CREATE TYPE shop.address').waitFor();
  await browser.close(page);
});

test('a table shows keys, sizes, rows, statements and its layout', async () => {
  await api.run("DELETE FROM shop.orders WHERE customer = 'c0' AND number = 0");
  await api.run("INSERT INTO shop.orders (customer, number, paid) VALUES ('short', 1, false) USING TTL 3000");
  const page = await browser.open(server, '#/table/shop/orders');
  await page.getByRole('heading', { name: /orders/ }).waitFor();
  assert.match(await page.locator('.stats').innerText(), /Partitions\s+7/);
  assert.match(await page.locator('tr', { hasText: 'customer' }).first().innerText(), /K/);
  await page.getByRole('tab', { name: 'Rows' }).click();
  await page.locator('.grid tbody tr').nth(99).waitFor();
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('Page 2').waitFor();
  await page.getByRole('tab', { name: 'Layout' }).click();
  await page.locator('.cell').first().waitFor();
  await page.getByLabel('Partition').fill("'short'");
  await page.getByRole('button', { name: 'Show' }).click();
  await page.getByText('TTL 3000 s').first().waitFor();
  await page.getByLabel('Partition').fill("'c0'");
  await page.getByRole('button', { name: 'Show' }).click();
  await page.locator('.cell.is-deletion').first().waitFor();
  await page.getByRole('tab', { name: 'Statements' }).click();
  await page.getByText('INSERT INTO shop.orders').first().waitFor();
  await page.getByRole('tab', { name: 'Definition' }).click();
  await page.getByText('CREATE TABLE shop.orders').waitFor();
  await browser.close(page);
});

test("a finding's fix is applied, and its query then reads one partition", async () => {
  await api.run(`CREATE KEYSPACE bad ${replication}`);
  await api.run('CREATE TABLE bad.events (id uuid PRIMARY KEY, kind text, at timestamp, value double)');
  for (let i = 0; i < 10; ++i)
    await api.run(`BEGIN UNLOGGED BATCH ${Array.from({ length: 500 }, (_, j) => `INSERT INTO bad.events (id, kind, at, value) VALUES (uuid(), 'k${j % 3}', toTimestamp(now()), ${j});`).join(' ')} APPLY BATCH`);
  for (let i = 0; i < 20; ++i) await api.run(`SELECT id, value FROM bad.events WHERE kind = 'k${i % 3}' ALLOW FILTERING`);
  const page = await browser.open(server, '#/advisor?keyspace=bad');
  const finding = page.locator('.finding', { has: page.getByRole('button', { name: 'Create this table…' }) }).first();
  await finding.waitFor();
  assert.match(await finding.innerText(), /bad\.events/);
  const cql = await finding.locator('.code pre').innerText();
  await finding.getByRole('button', { name: 'Create this table…' }).click();
  assert.ok((await page.locator('dialog pre').innerText()).includes(cql.trim().split('\n')[0]), 'the dialog shows what it runs');
  await page.locator('dialog').getByRole('button', { name: /^Run/ }).click();
  await page.getByText('Created.').waitFor();
  const table = cql.match(/CREATE (?:TABLE|MATERIALIZED VIEW)\s+(?:IF NOT EXISTS\s+)?([\w.]+)/)[1];
  const { body } = await api.send('POST', 'explain', { text: `SELECT * FROM ${table.includes('.') ? table : `bad.${table}`} WHERE kind = 'k1'`, keyspace: 'bad' });
  assert.equal(body.statements[0].error, undefined);
  assert.equal(body.statements[0].steps[0][3], '1');
  await browser.close(page);
});

test('a pasted model is reviewed, and nothing of it is run', async () => {
  const page = await browser.open(server, '#/advisor/review');
  await page.getByLabel('Tables and queries').fill('CREATE TABLE pasted (a int PRIMARY KEY, b int);\nSELECT * FROM pasted WHERE b = ? ALLOW FILTERING;\n');
  await page.getByRole('button', { name: 'Review', exact: true }).click();
  await page.locator('.finding').first().waitFor();
  await page.getByRole('tab', { name: 'Diagram' }).click();
  await page.locator('.diagram img').waitFor();
  await page.getByRole('tab', { name: 'Design a model' }).click();
  await page.getByRole('button', { name: 'Design', exact: true }).click(); // the example
  await page.getByText('CREATE TABLE products_by_categories_id').waitFor({ timeout: 30_000 });
  await page.getByRole('tab', { name: 'Diagram' }).click();
  await page.locator('.diagram img').waitFor();
  const { body } = await api.send('GET', 'schema');
  assert.ok(!JSON.stringify(body).includes('pasted') && !JSON.stringify(body).includes('products_by'));
  await browser.close(page);
});

test('activity takes and verifies a snapshot, settings name their source', async () => {
  const page = await browser.open(server, '#/activity');
  await page.getByRole('button', { name: 'Take a snapshot' }).click();
  await page.getByText(/^Took /).waitFor();
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByText('is intact').waitFor();
  const log = page.locator('.card', { has: page.getByRole('heading', { name: /^Slow and failed/ }) });
  assert.doesNotMatch(await log.innerText(), /INFO/);
  await log.getByLabel('Lines').selectOption('all');
  await log.getByText('INFO').first().waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('t');
  await page.getByRole('heading', { name: 'Settings' }).waitFor();
  await page.getByLabel('Search settings').fill('metrics_address');
  assert.match(await page.locator('.list').innerText(), /--metrics/);
  await browser.close(page);
});
