// Takes the pictures of docs/console.md and the README from the real page. Usage: run.sh SIBYL FOLDER screenshots.mjs TARGET
// Under tests/ceph/with_ceph, takes those of the page of a cluster instead.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { Api, Browser, Server, startCluster, writeQuery } from './harness.mjs';

const target = path.resolve(process.argv[2]);
mkdirSync(target, { recursive: true });
const isCluster = process.env.SIBYL_TEST_CEPH !== undefined;
const servers = isCluster ? await startCluster(['delphi', 'cumae', 'erythrae'], 25) : [await Server.start([], { command: 'demo' })];
const [server] = servers;
const browser = await Browser.start();

const settle = (page) => page.waitForTimeout(600);
const pagesOfCluster = {
  cluster: async (page) => {
    await page.goto(`${server.url}/#/cluster`);
    await page.getByText('Every shard is where it belongs').waitFor({ timeout: 120_000 });
  },
};
const pages = {
  overview: async (page) => {
    await page.locator('.chart canvas').first().waitFor();
    await settle(page);
  },
  schema: async (page) => {
    await page.goto(`${server.url}/#/schema/demo`);
    await page.locator('.diagram img').waitFor();
  },
  table: async (page) => {
    await page.goto(`${server.url}/#/table/demo/readings`);
    await page.locator('.sizes').first().waitFor();
  },
  layout: async (page) => {
    await page.goto(`${server.url}/#/table/demo/phone_book?tab=layout`);
    await page.locator('.cell').first().waitFor();
  },
  query: async (page) => {
    await page.goto(`${server.url}/#/query?keyspace=demo`);
    await writeQuery(page, "-- Ratings of a film, newest first\nSELECT title, time, rating FROM demo.movies\nWHERE title = 'Stalker' AND time > '2020-01-01'\nORDER BY time DESC LIMIT 20;");
    await page.locator('.plan li').first().waitFor();
    await page.keyboard.press('Control+Enter');
    await page.locator('.grid td').first().waitFor();
  },
  advisor: async (page) => {
    await page.goto(`${server.url}/#/advisor?keyspace=demo`);
    await page.locator('.finding').first().waitFor();
  },
  activity: async (page) => {
    await page.goto(`${server.url}/#/activity`);
    await page.locator('.list').first().waitFor();
  },
  settings: async (page) => {
    await page.goto(`${server.url}/#/settings`);
    await page.locator('.list').first().waitFor();
  },
};
const looks = {
  light: { colorScheme: 'light', viewport: { width: 1280, height: 800 } },
  dark: { colorScheme: 'dark', viewport: { width: 1280, height: 800 } },
  'phone-light': { colorScheme: 'light', viewport: { width: 390, height: 844 } },
  'phone-dark': { colorScheme: 'dark', viewport: { width: 390, height: 844 } },
};

// Every server of a cluster has shards. The charts of the demo have something to show.
if (isCluster) {
  const api = new Api(server);
  await api.begin();
  while (!(await api.send('GET', 'cluster')).body.servers.every((one) => one.shards >= 8)) await new Promise((resolve) => setTimeout(resolve, 500));
} else await new Promise((resolve) => setTimeout(resolve, Number(process.env.SETTLE_SECONDS ?? 60) * 1000));
for (const [look, options] of Object.entries(looks)) {
  const page = await browser.open(server, '', options);
  for (const [name, show] of Object.entries(isCluster ? pagesOfCluster : pages)) {
    await show(page);
    await settle(page);
    await page.screenshot({ path: path.join(target, `${name}-${look}.png`) });
  }
  await browser.close(page);
}
await browser.stop();
for (const one of servers) await one.stop();
