// `sibyl demo`: examples, a load, a table for the advisor, and the end.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Api, Browser, Server } from './harness.mjs';

let server, browser;
before(async () => {
  [server, browser] = await Promise.all([Server.start([], { command: 'demo' }), Browser.start()]);
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

test('the address that is printed shows examples, a load and what the advisor says about the bad table', async () => {
  const printed = server.log.match(/Console {3}(http:\S+)/)[1];
  assert.equal(printed, `${server.url}/`);
  const api = new Api(server);
  await api.begin();
  for (const table of ['movies', 'phone_book', 'users_by_username', 'group_members', 'groups_by_join_date', 'events', 'products', 'readings'])
    assert.ok((await api.run(`SELECT * FROM demo.${table} LIMIT 5`)).rows.length > 0, table);
  const page = await browser.open(server);
  const requests = async () => Number((await page.locator('.stat', { hasText: 'Uptime' }).innerText()).match(/([\d,]+) requests/)?.[1].replaceAll(',', '') ?? 0);
  await page.locator('.chart canvas').first().waitFor();
  const earlier = await requests();
  await page.waitForFunction((least) => Number(document.querySelector('.stat:last-child .stat-sub').textContent.replace(/\D/g, '')) > least, earlier + 50);
  await page.goto(`${server.url}/#/advisor?keyspace=demo`);
  await page.locator('.finding', { hasText: 'demo.readings' }).filter({ hasText: 'FULL_SCAN' }).getByRole('button', { name: 'Create this table…' }).waitFor();
  await browser.close(page);
});

test('Ctrl-C ends it', async () => {
  const ended = new Promise((resolve) => server.process.on('exit', (status) => resolve(status)));
  server.process.kill('SIGINT');
  assert.equal(await ended, 0);
});
