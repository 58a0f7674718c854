// axe-core finds no serious violation, in light and dark, on a laptop and a phone; and keys are enough.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Api, Browser, findSeriousViolations, loadShop, Server } from './harness.mjs';

let server, browser;
before(async () => {
  [server, browser] = await Promise.all([Server.start(), Browser.start()]);
  const api = new Api(server);
  await api.begin();
  await loadShop(api, 100);
  await api.run("SELECT * FROM shop.orders WHERE paid = true ALLOW FILTERING");
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

const views = [
  ['#/overview', '.stats'],
  ['#/schema/shop', '.diagram img'],
  ['#/table/shop/orders', '.sizes'],
  ['#/table/shop/orders?tab=data', '.grid'],
  ['#/table/shop/orders?tab=layout', '.cell'],
  ['#/query', '.cm-content'],
  ['#/advisor', '.tabs'],
  ['#/activity', '.list'],
  ['#/settings', '.list'],
];
for (const [name, options] of [
  ['light, laptop', { colorScheme: 'light' }],
  ['dark, phone', { colorScheme: 'dark', viewport: { width: 390, height: 844 } }],
])
  test(`no serious violation: ${name}`, async () => {
    const page = await browser.open(server, '', { ...options, bypassCSP: true });
    for (const [hash, part] of views) {
      await page.goto(`${server.url}/${hash}`);
      await page.locator(part).first().waitFor();
      assert.deepEqual([hash, ...(await findSeriousViolations(page))], [hash]);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok(overflow <= 0, `${hash} is ${overflow} pixels too wide`);
    }
    await browser.close(page);
  });

test('a query is written and run with the keyboard alone', async () => {
  const page = await browser.open(server);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('q');
  await page.locator('.cm-content').waitFor();
  for (let i = 0; i < 10 && !(await page.evaluate(() => document.activeElement?.classList.contains('editor-host'))); ++i) await page.keyboard.press('Tab');
  await page.keyboard.insertText('SELECT cluster_name FROM system.local');
  await page.keyboard.press('Control+Enter');
  await page.locator('.grid td').first().waitFor();
  await browser.close(page);
});
