// A server that ends and comes back, tables that are dropped, statements that are too long to keep.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Api, Browser, loadShop, replication, Server, writeQuery } from './harness.mjs';

let server, browser, api;
before(async () => {
  [server, browser] = await Promise.all([Server.start([], { data: 'directory' }), Browser.start()]);
  api = new Api(server);
  await api.begin();
  await loadShop(api, 100);
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

const away = 'The server does not answer. Waiting for it…';

test('the page goes on after the server was restarted', async () => {
  const page = await browser.open(server);
  await page.locator('.stats').waitFor();
  const table = await browser.open(server, '#/table/shop/orders');
  await table.locator('.stats').waitFor();
  const query = await browser.open(server, '#/query');
  await writeQuery(query, "SELECT * FROM shop.orders WHERE customer = 'c1'");
  await query.locator('.plan li').first().waitFor();
  await server.end();
  await page.getByText(away).waitFor();
  await query.getByRole('button', { name: 'Run all' }).click();
  await query.locator('.results [role=alert]').getByText('The server does not answer').waitFor();
  await query.getByText(away).waitFor();
  await table.getByRole('tab', { name: 'Rows' }).click();
  await table.getByText(away).waitFor();
  await server.runAgain();
  await api.begin(); // the new process has other tokens
  for (const one of [page, table, query]) await one.getByText(away).waitFor({ state: 'detached' });
  await table.locator('.grid tbody tr').first().waitFor();
  await page.waitForFunction(() => /\d+ s\n/.test(document.querySelector('.stat:last-child')?.innerText ?? ''));
  await query.getByRole('button', { name: 'Run', exact: true }).click();
  await query.locator('.grid tbody tr').first().waitFor();
  assert.equal(await query.locator('.results [role=alert]').count(), 0);
  for (const one of [page, table, query]) await browser.close(one);
});

test('after a restart the page asks for the login again, and goes back to where it was', async () => {
  const guarded = await Server.start(['--authenticator', 'PasswordAuthenticator'], { data: 'directory' });
  try {
    const page = await browser.open(guarded, '#/settings');
    const logIn = async () => {
      await page.getByLabel('Role').fill('cassandra');
      await page.getByLabel('Password').fill('cassandra');
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByRole('heading', { name: 'Settings' }).waitFor();
    };
    await logIn();
    await page.goto(`${guarded.url}/#/overview`);
    await page.locator('.stats').waitFor();
    await page.goto(`${guarded.url}/#/settings`);
    await page.getByRole('heading', { name: 'Settings' }).waitFor();
    await guarded.end();
    await guarded.runAgain();
    await page.goto(`${guarded.url}/#/activity`);
    await page.getByLabel('Password').waitFor();
    await page.goto(`${guarded.url}/#/settings`);
    await logIn();
    await browser.close(page);
  } finally {
    await guarded.stop();
  }
});

test('a table that is dropped while it is open is reported', async () => {
  await api.run(`CREATE KEYSPACE brief ${replication}`);
  await api.run('CREATE TABLE brief.t (k int, c int, PRIMARY KEY (k, c))');
  for (let i = 0; i < 3; ++i) await api.run(`BEGIN UNLOGGED BATCH ${Array.from({ length: 50 }, (_, j) => `INSERT INTO brief.t (k, c) VALUES (${i}, ${j});`).join(' ')} APPLY BATCH`);
  const page = await browser.open(server, '#/table/brief/t?tab=data');
  await page.locator('.grid tbody tr').first().waitFor();
  await api.run('DROP TABLE brief.t');
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('alert').getByText(/table t does not exist|unconfigured table/).waitFor();
  await page.getByRole('tab', { name: 'Layout' }).click();
  await page.getByRole('alert').waitFor();
  // The page of a keyspace that is gone names it, and the tree no longer has it.
  await api.run('DROP KEYSPACE brief');
  await page.goto(`${server.url}/#/table/brief/t`);
  await page.getByRole('alert').getByText('There is no table brief.t').waitFor();
  await page.goto(`${server.url}/#/schema/brief`);
  await page.getByText('There is no keyspace brief').waitFor();
  assert.equal(await page.locator('.tree').getByText('brief', { exact: true }).count(), 0);
  await browser.close(page);
});

test('a statement that is too long for the history of the browser is run', async () => {
  await api.run('CREATE TABLE shop.notes (k int PRIMARY KEY, v text)');
  const page = await browser.open(server, '#/query');
  const insert = (i) => `INSERT INTO shop.notes (k, v) VALUES (${i}, '${String(i).repeat(900_000)}')`;
  for (let i = 1; i <= 7; ++i) {
    await writeQuery(page, insert(i));
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.locator('.results').getByText('Done').waitFor();
  }
  assert.equal((await api.run('SELECT count(*) FROM shop.notes')).rows[0][0], '7');
  await browser.close(page);
});
