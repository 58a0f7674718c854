// The page of a cluster: two servers on a Ceph cluster of their own. Run by tests/ceph/with_ceph, which sets SIBYL_TEST_CEPH.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Api, Browser, findSeriousViolations, replication, startCluster } from './harness.mjs';

const shards = 9;
let servers, browser;
before(async () => {
  servers = await startCluster(['delphi', 'cumae'], shards);
  browser = await Browser.start();
});
after(async () => {
  await browser?.stop();
  for (const server of servers ?? []) await server.stop();
});

test('servers, the ring, moves and logs are shown, and a server that stops', async () => {
  const [delphi, cumae] = servers;
  const api = new Api(delphi);
  const { body: session } = await api.begin();
  assert.equal(session.cluster, true);
  await api.run(`CREATE KEYSPACE k ${replication}`);
  await api.run('CREATE TABLE k.t (a int PRIMARY KEY)');
  for (let i = 0; i < 30; ++i) await api.run(`INSERT INTO k.t (a) VALUES (${i})`);
  const page = await browser.open(delphi, '#/overview', { bypassCSP: true }); // for axe-core
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('r');
  const rows = page.locator('section', { hasText: /^Servers/ }).locator('tbody tr');
  await rows.filter({ hasText: 'delphi' }).filter({ hasText: 'this server' }).filter({ hasText: 'renewed' }).waitFor();
  // Shards move to the second server until both have about the same.
  await rows.filter({ hasText: 'cumae' }).filter({ hasText: /serving\s*[45]/ }).waitFor({ timeout: 120_000 });
  await page.getByText('Every shard is where it belongs').waitFor({ timeout: 60_000 });
  assert.equal(await page.locator('.ring path').count(), shards - 1);
  assert.match(await page.locator('.ring').getAttribute('aria-label'), /cumae has [45] shards, delphi has [45] shards/);
  const logs = page.locator('section', { hasText: /^Logs/ }).locator('tbody tr');
  assert.equal(await logs.count(), 2);
  const { body } = await api.send('GET', 'cluster');
  assert.ok(body.logs.every((log) => log.server && !log.is_sealed));
  assert.ok(body.logs.reduce((sum, log) => sum + log.sequence, 0) >= 30, JSON.stringify(body.logs));
  assert.deepEqual(await findSeriousViolations(page), []);
  await page.setViewportSize({ width: 390, height: 844 });
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0);
  await page.setViewportSize({ width: 1280, height: 800 });

  cumae.process.kill('SIGKILL');
  await page.getByText('cumae has not renewed its lease').waitFor({ timeout: 30_000 });
  await rows.filter({ hasText: 'cumae' }).waitFor({ state: 'detached', timeout: 60_000 });
  await rows.filter({ hasText: /serving\s*9/ }).waitFor({ timeout: 60_000 });
  // Snapshots of a cluster are taken by a command, and its page does not offer them.
  await page.goto(`${delphi.url}/#/activity`);
  await page.getByRole('heading', { name: 'Activity' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Take a snapshot' }).count(), 0);
  assert.match((await api.send('POST', 'snapshots', {})).body.error.message, /cluster/);
  await browser.close(page);
});
