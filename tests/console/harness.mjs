// Starts a server and a browser, and loads data.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createConnection, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chromium } from 'playwright-core';

export const replication = "WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";

// A server on free ports. `options`: further flags of `sibyl serve`. `data`: ':memory:', 'directory' for a new one, or null for a
// server of a cluster, which needs a fixed `port`.
export class Server {
  static async start(options = [], { data = ':memory:', command = 'serve', port = 0 } = {}) {
    const server = new Server();
    server.folder = data === 'directory' ? mkdtempSync(path.join(tmpdir(), 'sibyl-console-')) : null;
    const flags = command === 'serve' && data ? ['--data', server.folder ? path.join(server.folder, 'data') : data] : [];
    server.command = [command, ...flags, ...options];
    await server.run(`127.0.0.1:${port}`, '127.0.0.1:0');
    return server;
  }

  // Starts the process, and waits until it serves the console.
  async run(listen, metrics) {
    this.process = spawn(process.env.SIBYL_BINARY, [...this.command, '--listen', listen, '--metrics', metrics]);
    this.log = '';
    this.url = await new Promise((resolve, reject) => {
      const read = (chunk) => {
        this.log += chunk;
        const found = this.log.match(/(?:metrics on|Console  ) (https?:\/\/[^/\s]+)\//);
        if (found && (this.command.includes('off') || /console on|console is off|Console  /.test(this.log))) resolve(found[1]);
      };
      this.process.stderr.on('data', read);
      this.process.stdout.on('data', read);
      this.process.on('exit', (status) => reject(new Error(`the server ended with ${status}:\n${this.log}`)));
    });
  }

  // Starts it again after end(), at the same addresses and with the same data.
  async runAgain() {
    const [, listen] = this.log.match(/serving \S+ on (\S+:\d+)/);
    await this.run(listen, new URL(this.url).host);
  }

  // The CPU time of the process so far: user and system, in ticks of 10 ms.
  cpuSeconds() {
    const fields = readFileSync(`/proc/${this.process.pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return (Number(fields[11]) + Number(fields[12])) / 100;
  }

  async end() {
    if (this.process.exitCode !== null) return;
    const ended = new Promise((resolve) => this.process.on('exit', resolve));
    this.process.kill('SIGTERM');
    await ended;
  }

  async stop() {
    await this.end();
    if (this.folder) rmSync(this.folder, { recursive: true, force: true });
  }
}

const freePort = () =>
  new Promise((resolve) => {
    const socket = createServer();
    socket.listen(0, '127.0.0.1', () => {
      const { port } = socket.address();
      socket.close(() => resolve(port));
    });
  });

// Servers of a new cluster on the Ceph of tests/ceph/with_ceph.
export async function startCluster(names, shards) {
  const ceph = path.join(process.env.SIBYL_TEST_CEPH, 'ceph.conf');
  execFileSync(process.env.SIBYL_BINARY, ['cluster', 'create', '--ceph', ceph, '--pool', 'sibyl', '--shards', String(shards), '--lease-ms', '8000']);
  const servers = [];
  for (const name of names) {
    const flags = ['--cluster', 'rados:sibyl', '--ceph', ceph, '--set', `cluster_server_name=${name}`];
    servers.push(await Server.start(flags, { data: null, port: await freePort() }));
  }
  return servers;
}

// Calls the API as the page does.
export class Api {
  constructor(server) {
    this.server = server;
    this.cookie = '';
  }

  async send(method, endpoint, body, headers = {}) {
    const response = await fetch(`${this.server.url}/api/v1/${endpoint}`, {
      method,
      headers: { 'X-Sibyl-CSRF': this.csrf ?? '', Cookie: this.cookie, ...(body ? { 'Content-Type': 'application/json' } : {}), ...headers },
      body: body ? JSON.stringify(body) : undefined,
    });
    const cookie = response.headers.get('set-cookie');
    if (cookie) this.cookie = cookie.split(';')[0];
    return { status: response.status, headers: response.headers, body: await response.json() };
  }

  async begin(role, password) {
    const answer = role ? await this.send('POST', 'session', { role, password }) : await this.send('GET', 'session');
    this.csrf = answer.body.csrf;
    return answer;
  }

  async run(text, options = {}) {
    const answer = await this.send('POST', 'query', { text, ...options });
    assert.equal(answer.status, 200, `${text}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  }
}

// A client of the native protocol, version 4: just enough to send statements.
export class CqlClient {
  static async connect(server, options = {}) {
    const [, host, port] = server.log.match(/serving \S+ on (\S+):(\d+)/);
    const client = new CqlClient();
    client.socket = createConnection({ host, port: Number(port) });
    client.waiting = new Map();
    client.received = Buffer.alloc(0);
    client.socket.on('data', (data) => client.#receive(data));
    client.socket.on('error', () => {});
    client.socket.on('close', () => client.waiting.forEach(({ reject }) => reject(new Error('closed'))));
    const entries = Object.entries({ CQL_VERSION: '3.0.0', ...options });
    const string = (text) => Buffer.concat([Buffer.from([text.length >> 8, text.length & 255]), Buffer.from(text)]);
    await client.#send(1, Buffer.concat([Buffer.from([0, entries.length]), ...entries.flat().map(string)]));
    return client;
  }

  // The code of the error, or undefined.
  async query(text) {
    const length = Buffer.alloc(4);
    length.writeInt32BE(text.length);
    return this.#send(7, Buffer.concat([length, Buffer.from(text), Buffer.from([0, 1, 0])]));
  }

  close() {
    this.socket.destroy();
  }

  #send(opcode, body) {
    const stream = this.waiting.size;
    const header = Buffer.from([4, 0, stream >> 8, stream & 255, opcode, 0, 0, 0, 0]);
    header.writeUInt32BE(body.length, 5);
    this.socket.write(Buffer.concat([header, body]));
    return new Promise((resolve, reject) => this.waiting.set(stream, { resolve, reject }));
  }

  #receive(data) {
    this.received = Buffer.concat([this.received, data]);
    while (this.received.length >= 9 && this.received.length >= 9 + this.received.readUInt32BE(5)) {
      const size = 9 + this.received.readUInt32BE(5);
      const frame = this.received.subarray(0, size);
      this.received = this.received.subarray(size);
      this.waiting.get(frame.readInt16BE(2)).resolve({ error: frame[4] === 0 ? frame.readInt32BE(9) : undefined });
    }
  }
}

// One browser for all tests of a file; every test has a page of its own.
export class Browser {
  static async start() {
    const browser = new Browser();
    browser.chromium = await chromium.launch({
      executablePath: '/usr/bin/chromium',
      args: ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
    });
    return browser;
  }

  // `problems` collects errors of the page and requests to other hosts. It must stay empty.
  async open(server, hash = '', options = {}, first = `${server.url}/${hash}`) {
    const context = await this.chromium.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    const page = await context.newPage();
    page.problems = [];
    page.bytes = 0;
    page.on('pageerror', (error) => page.problems.push(`error: ${error.message}`));
    page.on('console', (message) => {
      // A refused request is reported by the browser, however well the page handles it.
      if (['error', 'warning'].includes(message.type()) && !/Failed to load resource/.test(message.text())) page.problems.push(`console: ${message.text()}`);
    });
    page.on('dialog', (dialog) => page.problems.push(`dialog: ${dialog.message()}`) && dialog.dismiss());
    page.on('request', (request) => {
      if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(`${server.url}/`)) page.problems.push(`foreign request: ${request.url()}`);
    });
    page.on('requestfinished', async (request) => {
      const sizes = await request.sizes().catch(() => null);
      if (sizes) page.bytes += sizes.responseBodySize + sizes.responseHeadersSize;
    });
    await page.goto(first);
    return page;
  }

  async close(page) {
    const { problems } = page;
    await page.context().close();
    assert.deepEqual(problems, []);
  }

  stop() {
    return this.chromium.close();
  }
}

// The serious violations of accessibility rules that axe-core finds.
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
export async function findSeriousViolations(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ['violations'] }));
  const serious = violations.filter((one) => ['serious', 'critical'].includes(one.impact));
  return serious.map((one) => `${one.id}: ${one.nodes.map((node) => node.html.slice(0, 120)).join(' | ')}`);
}

// Types into the editor, which is in a shadow root.
export async function writeQuery(page, text) {
  const editor = page.locator('.cm-content');
  await editor.focus();
  await page.keyboard.press('Escape'); // completions that an earlier text has opened
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Delete');
  await page.keyboard.insertText(text);
}

export async function loadShop(api, rows = 250) {
  await api.run(`CREATE KEYSPACE shop ${replication}`);
  await api.run('CREATE TABLE shop.orders (customer text, number int, total decimal, tags set<text>, paid boolean, PRIMARY KEY (customer, number))');
  for (let i = 0; i < rows; i += 50) {
    const rowsOfBatch = Array.from({ length: 50 }, (_, j) => `INSERT INTO shop.orders (customer, number, total, tags, paid) VALUES ('c${(i + j) % 5}', ${i + j}, ${i + j}.50, {'a', 'b'}, true);`);
    await api.run(`BEGIN UNLOGGED BATCH ${rowsOfBatch.join(' ')} APPLY BATCH`);
  }
}
