// 5,000 tables and 10,000 columns: every page answers as fast as with a few.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Api, Browser, replication, Server, writeQuery } from './harness.mjs';

const tables = 5000;
let server, browser, api;
before(async () => {
  [server, browser] = await Promise.all([Server.start(), Browser.start()]);
  api = new Api(server);
  await api.begin();
  await api.run(`CREATE KEYSPACE wide ${replication}`);
  await api.run(`CREATE TABLE wide.w (k int PRIMARY KEY, ${Array.from({ length: 10_000 }, (_, i) => `c${i} int`).join(', ')})`);
  await api.run('INSERT INTO wide.w (k, c9999) VALUES (1, 2)');
  await api.run(`CREATE KEYSPACE many ${replication}`);
  for (let i = 0; i < tables; ++i) await api.run(`CREATE TABLE many.t${i} (k int PRIMARY KEY, v text)`);
  await api.run('CREATE TABLE many.zebra (k int PRIMARY KEY, v text)');
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

// Fails if the page took more than this of the processor for what `work` did: a page that lags would take seconds.
async function withinBusySeconds(page, limit, what, work) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  const read = async () => (await devtools.send('Performance.getMetrics')).metrics.find((one) => one.name === 'TaskDuration').value;
  const before = await read();
  await work();
  const used = (await read()) - before;
  assert.ok(used < limit, `${what} took ${used.toFixed(2)} s of the processor`);
  await devtools.detach();
}
const countElements = (page) => page.evaluate(() => document.querySelectorAll('*').length);

test('the tree of 5,000 tables is scrolled, searched and walked with keys', async () => {
  const page = await browser.open(server, '#/schema');
  const row = (name) => page.locator('.tree').getByRole('link', { name, exact: true });
  await page.locator('.tree button', { hasText: 'many' }).waitFor();
  await withinBusySeconds(page, 1, 'opening the keyspace', async () => {
    await page.locator('.tree button', { hasText: 'many' }).click();
    await row('t0').waitFor();
  });
  assert.ok((await countElements(page)) < 1500, 'only the rows in view are in the page');
  await withinBusySeconds(page, 1, 'scrolling to the end', async () => {
    await page.locator('.tree').evaluate((tree) => (tree.scrollTop = tree.scrollHeight / 2));
    await page.waitForFunction(() => {
      const { top, bottom } = document.querySelector('.tree').getBoundingClientRect();
      const isInView = (link) => link.getBoundingClientRect().top >= top && link.getBoundingClientRect().bottom <= bottom;
      return [...document.querySelectorAll('.tree a')].filter(isInView).length > 8;
    });
    await page.locator('.tree').evaluate((tree) => (tree.scrollTop = tree.scrollHeight));
    await row('zebra').waitFor();
  });
  await page.locator('.tree button', { hasText: 'System' }).focus();
  await page.keyboard.press('Home');
  await page.waitForFunction(() => document.activeElement.textContent.startsWith('many'));
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.waitForFunction(() => document.activeElement.textContent === 't0');
  for (let i = 0; i < 60; ++i) await page.keyboard.press('ArrowDown');
  const reached = await page.evaluate(() => document.activeElement.textContent);
  assert.match(reached, /^t\d+$/);
  assert.ok(await page.locator('.tree').evaluate((tree) => tree.scrollTop > 0), 'the row with the focus is in view');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: new RegExp(`${reached}$`) }).waitFor();
  await page.goBack();
  await withinBusySeconds(page, 2, 'searching', async () => {
    await page.getByLabel('Search the schema').pressSequentially(`t${tables - 1}`);
    await row(`t${tables - 1}`).waitFor();
  });
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: new RegExp(`t${tables - 1}$`) }).waitFor();
  await browser.close(page);
});

test('the pages of a keyspace with 5,000 tables stay usable', async () => {
  const page = await browser.open(server, '#/overview');
  await page.locator('.stats').waitFor();
  await withinBusySeconds(page, 2, 'the diagram', async () => {
    await page.goto(`${server.url}/#/schema/many`);
    await page.getByText(/too many for one diagram/).waitFor();
  });
  await withinBusySeconds(page, 2, 'the definition', async () => {
    await page.getByRole('tab', { name: 'Definition' }).click();
    await page.getByText('CREATE KEYSPACE many').waitFor();
    await page.getByText(/The beginning of a text/).waitFor();
  });
  await page.goto(`${server.url}/#/query?keyspace=many`);
  await withinBusySeconds(page, 3, 'completing', async () => {
    await writeQuery(page, 'SELECT * FROM zeb');
    await page.keyboard.press('Control+Space');
    await page.locator('.cm-tooltip-autocomplete li', { hasText: 'zebra' }).first().click();
  });
  await page.keyboard.press('Control+Enter');
  await page.getByText('No rows').waitFor();
  await withinBusySeconds(page, 3, 'the advisor', async () => {
    await page.goto(`${server.url}/#/advisor`);
    await page.getByRole('tab', { name: /Findings/ }).waitFor({ timeout: 30_000 });
  });
  const { body } = await api.send('GET', 'advisor');
  assert.ok(JSON.stringify(body).length < 1_000_000 && /left out/.test(body.remarks.join()), body.remarks.join());
  await browser.close(page);
});

test('a table with 10,000 columns stays usable', async () => {
  const page = await browser.open(server, '#/table/wide/w');
  await page.getByText(/The first \d+ of 10\.0 k columns/).waitFor();
  for (const [tab, shown] of [
    ['data', /of 10\.0 k columns/],
    ['layout', 'c9999'],
    ['queries', 'INSERT INTO wide.w'],
    ['ddl', 'CREATE TABLE wide.w'],
  ])
    await withinBusySeconds(page, 2, tab, async () => {
      await page.goto(`${server.url}/#/table/wide/w?tab=${tab}`);
      await page.getByText(shown).first().waitFor();
    });
  await page.goto(`${server.url}/#/query?keyspace=wide`);
  await withinBusySeconds(page, 3, 'completing a column', async () => {
    await writeQuery(page, 'SELECT c9999 FROM w WHERE k = 1');
    await page.locator('.plan li').first().waitFor();
    await page.keyboard.press('Control+Enter');
    await page.locator('.grid td').getByText('2', { exact: true }).waitFor();
  });
  await browser.close(page);
});
