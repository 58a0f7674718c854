// Logins, permissions, other sites, hostile data.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { Api, Browser, loadShop, replication, Server, writeQuery } from './harness.mjs';

let server, browser, root;
before(async () => {
  [server, browser] = await Promise.all([Server.start(['--authenticator', 'PasswordAuthenticator', '--authorizer', 'CassandraAuthorizer']), Browser.start()]);
  root = new Api(server);
  await root.begin('cassandra', 'cassandra');
  await loadShop(root, 50);
  await root.run("CREATE ROLE ann WITH PASSWORD = 'secret' AND LOGIN = true");
  await root.run(`CREATE KEYSPACE own ${replication}`);
  await root.run('CREATE TABLE own.t (a int PRIMARY KEY, b text)');
  await root.run("INSERT INTO own.t (a, b) VALUES (1, 'mine')");
  await root.run('GRANT SELECT ON KEYSPACE own TO ann');
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

async function logIn(page, role, password) {
  await page.getByLabel('Role').fill(role);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
}

test('the_page_asks_for_a_login', async () => {
  const page = await browser.open(server);
  await logIn(page, 'ann', 'wrong');
  await page.getByRole('alert').waitFor();
  await logIn(page, 'ann', 'secret');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  const cookies = await page.context().cookies();
  assert.equal(cookies.length, 1);
  assert.ok(cookies[0].httpOnly);
  assert.equal(cookies[0].sameSite, 'Strict');
  await page.goto(`${server.url}/#/table/own/t?tab=data`);
  await page.getByText('mine').waitFor();
  await page.goto(`${server.url}/#/table/shop/orders`);
  await page.getByText('You may not read this table').waitFor();
  assert.equal(await page.locator('.stats').count(), 0);
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByLabel('Password').waitFor();
  await browser.close(page);
});

test('with_metrics_encryption_the_page_is_served_over_https_only', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'sibyl-certificate-'));
  const [key, certificate] = ['key.pem', 'certificate.pem'].map((name) => path.join(folder, name));
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-subj', '/CN=server', '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', certificate], { stdio: 'ignore' });
  const encrypted = await Server.start(['--authenticator', 'PasswordAuthenticator', '--tls-certificate', certificate, '--tls-key', key, '--set', 'metrics_encryption=true']);
  try {
    assert.match(encrypted.url, /^https:/);
    const page = await browser.open(encrypted, '#/query', { ignoreHTTPSErrors: true });
    await logIn(page, 'cassandra', 'cassandra');
    await writeQuery(page, 'SELECT cluster_name FROM system.local');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.locator('.grid td').first().waitFor();
    const [cookie] = await page.context().cookies();
    assert.ok(cookie.secure && cookie.httpOnly);
    await page.goto(`${encrypted.url}/#/overview`);
    await page.locator('.chart canvas').first().waitFor();
    await assert.rejects(fetch(`${encrypted.url.replace('https', 'http')}/api/v1/session`));
    await browser.close(page);
  } finally {
    await encrypted.stop();
    rmSync(folder, { recursive: true });
  }
});

test('roles_without_select_see_nothing_of_a_table', async () => {
  for (let i = 0; i < 20; ++i) await root.run("SELECT * FROM shop.orders WHERE customer = 'c1'");
  const ann = new Api(server);
  await ann.begin('ann', 'secret');
  for (const [method, endpoint, body] of [
    ['POST', 'query', { text: 'SELECT * FROM shop.orders' }],
    ['POST', 'query', { text: "INSERT INTO own.t (a) VALUES (2)" }],
    ['GET', 'layout?keyspace=shop&table=orders'],
    ['GET', 'activity'],
    ['GET', 'settings'],
    ['POST', 'snapshots', {}],
  ]) {
    const answer = await ann.send(method, endpoint, body);
    assert.ok(answer.status === 403 || (endpoint === 'snapshots' && answer.status === 400), `${endpoint}: ${answer.status} ${JSON.stringify(answer.body)}`);
    assert.ok(!JSON.stringify(answer.body).includes('c1'));
  }
  const { body: table } = await ann.send('GET', 'table?keyspace=shop&table=orders');
  assert.equal(table.readable, false);
  assert.deepEqual([table.statistics, table.hot_partitions, table.queries], [undefined, undefined, undefined]);
  const { body: own } = await root.send('GET', 'table?keyspace=shop&table=orders');
  assert.ok(own.hot_partitions.some((one) => one.partition_key.includes('c1')));
  const { body: review } = await ann.send('GET', 'advisor?keyspace=shop');
  assert.ok(!JSON.stringify(review).includes("c1"), 'a review names no hot key');
  assert.deepEqual(review.review.queries, []);
  const { body: explained } = await ann.send('POST', 'explain', { text: 'SELECT * FROM shop.orders' });
  assert.match(explained.statements[0].error.message, /no SELECT permission/);
});

test('requests_without_session_token_or_origin_are_refused', async () => {
  const stranger = new Api(server);
  assert.equal((await stranger.send('GET', 'overview')).status, 401);
  const forged = new Api(server);
  await forged.begin('ann', 'secret');
  const token = forged.csrf;
  forged.csrf = 'wrong';
  assert.equal((await forged.send('POST', 'query', { text: 'SELECT * FROM own.t' })).status, 403);
  assert.equal((await forged.send('DELETE', 'session')).status, 403);
  forged.csrf = token;
  assert.equal((await forged.send('POST', 'query', { text: 'SELECT * FROM own.t' }, { Origin: 'http://evil.example' })).status, 403);
  assert.equal((await forged.send('POST', 'query', { text: 'SELECT * FROM own.t' }, { 'Sec-Fetch-Site': 'cross-site' })).status, 403);
  assert.equal((await forged.send('POST', 'query', { text: 'SELECT * FROM own.t' }, { 'Content-Type': 'text/plain' })).status, 400);
  assert.equal((await forged.send('POST', 'query', { text: 'SELECT * FROM own.t' })).status, 200);
  assert.equal((await forged.send('DELETE', 'session')).status, 200);
  assert.equal((await forged.send('POST', 'query', { text: 'SELECT * FROM own.t' })).status, 401);
});

test('foreign_host_names_are_refused', async () => {
  const { port } = new URL(server.url);
  const status = (headers) =>
    new Promise((resolve, reject) => http.get({ host: '127.0.0.1', port, path: '/api/v1/session', headers }, (answer) => (answer.resume(), resolve(answer.statusCode))).on('error', reject));
  assert.equal(await status({ Host: `rebound.example:${port}` }), 421);
  assert.equal(await status({ Host: `127.0.0.1:${port}` }), 200);
});

test('pages_of_other_sites_read_and_change_nothing', async () => {
  const open = await Server.start();
  try {
    const evil = http.createServer((_, answer) => answer.setHeader('Content-Type', 'text/html').end('<h1>evil</h1>'));
    await new Promise((resolve) => evil.listen(0, '127.0.0.1', resolve));
    const context = await browser.chromium.newContext();
    const page = await context.newPage();
    await page.goto(`http://localhost:${evil.address().port}/`);
    const outcome = await page.evaluate(async (url) => {
      const results = [];
      for (const [type, headers] of [['text/plain', {}], ['application/json', { 'X-Sibyl-CSRF': 'x' }]])
        results.push(
          await fetch(`${url}/api/v1/query`, { method: 'POST', headers: { 'Content-Type': type, ...headers }, body: JSON.stringify({ text: "CREATE KEYSPACE stolen WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}" }) }).then((answer) => answer.status, () => 'blocked'),
        );
      await fetch(`${url}/api/v1/query`, { method: 'POST', mode: 'no-cors', body: '{"text": "CREATE KEYSPACE stolen"}' }).catch(() => {});
      return results;
    }, open.url);
    assert.deepEqual(outcome, ['blocked', 'blocked']);
    const frame = await page.evaluate(async (url) => {
      const element = document.createElement('iframe');
      element.src = url;
      document.body.append(element);
      await new Promise((resolve) => (element.onload = resolve));
      try {
        return element.contentDocument?.body.innerText ?? 'hidden';
      } catch {
        return 'hidden';
      }
    }, open.url);
    assert.equal(frame, 'hidden');
    await context.close();
    evil.close();
    const api = new Api(open);
    await api.begin();
    const { body } = await api.send('GET', 'schema');
    assert.ok(!body.keyspaces.some((one) => one.name === 'stolen'));
  } finally {
    await open.stop();
  }
});

test('hostile_data_is_shown_as_text', async () => {
  const hostile = `<img src=x onerror="alert(1)"><script>alert(2)</script>'"\`\u202e\u0000\\`;
  await root.run(`CREATE KEYSPACE hostile ${replication}`);
  const names = ['é', 'e\u0301', '表', 'ไทย', 'عربي', 'עברית', '😀', '\u200b', '\ufeff', 'ﬁ', '𝒜', 'a b', '"', "'", '<b>', '&amp;', '${x}', '../..', '%00', '#', '?', '\\n'];
  const columns = names.map((name) => `"${name.replaceAll('"', '""')}" int`).join(', ');
  await root.run(`CREATE TABLE hostile."Odd" (a text PRIMARY KEY, "<img src=x onerror=alert(3)>" text, "\u202egnitset" set<text>, ${columns})`);
  const literal = `'${hostile.replaceAll("'", "''")}'`;
  await root.run(`INSERT INTO hostile."Odd" (a, "<img src=x onerror=alert(3)>", "\u202egnitset") VALUES (${literal}, ${literal}, {${literal}})`);
  await root.run(`INSERT INTO hostile."Odd" (a, "<img src=x onerror=alert(3)>") VALUES ('long', '${'x'.repeat(1_000_000)}')`);
  const page = await browser.open(server);
  await logIn(page, 'cassandra', 'cassandra');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  const at = '#/table/hostile/Odd';
  for (const [tab, shown] of [
    ['shape', 'Columns'],
    ['data', '<img src=x onerror='],
    ['layout', '<img src=x onerror='],
    ['queries', 'INSERT INTO'],
    ['ddl', 'CREATE TABLE'],
  ]) {
    await page.goto(`${server.url}/${at}?tab=${tab}`);
    await page.getByText(shown).first().waitFor();
  }
  await page.goto(`${server.url}/#/schema/hostile`);
  await page.locator('.diagram img').waitFor();
  await page.goto(`${server.url}/#/query`);
  await writeQuery(page, 'SELECT * FROM hostile."Odd"');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.locator('.grid tbody tr').nth(1).waitFor();
  assert.equal(await page.locator('main img, main script').count(), 0);
  await page.goto(`${server.url}/#/advisor?keyspace=hostile`);
  await page.getByRole('tab', { name: 'Findings' }).waitFor();
  await browser.close(page);
});

test('a_read_only_console_changes_nothing', async () => {
  const reader = await Server.start(['--set', 'console_read_only=true']);
  const off = await Server.start(['--console', 'off']);
  try {
    const api = new Api(reader);
    await api.begin();
    assert.equal((await api.send('POST', 'query', { text: `CREATE KEYSPACE k ${replication}` })).status, 403);
    assert.equal((await api.send('POST', 'query', { text: 'SELECT * FROM system.local' })).status, 200);
    assert.equal((await fetch(`${off.url}/`)).status, 404);
    assert.equal((await fetch(`${off.url}/api/v1/session`)).status, 404);
    assert.equal((await fetch(`${off.url}/metrics`)).status, 200);
  } finally {
    await Promise.all([reader.stop(), off.stop()]);
  }
});
