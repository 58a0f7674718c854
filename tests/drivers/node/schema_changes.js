// Prepared statements while the schema changes: the driver prepares them again, and reads and writes by the new definition.
'use strict';
const { deepStrictEqual: same } = require('node:assert');

const prepare = { prepare: true };

class SchemaChanges {
  constructor(client, another) {
    this.client = client;
    this.another = another;
  }

  execute(statement, parameters) {
    return this.client.execute(statement, parameters || [], parameters && prepare);
  }

  async make() {
    await this.execute('CREATE TYPE changing (a int)');
    await this.execute('CREATE TABLE changes (k int, c int, z text, PRIMARY KEY (k, c))');
    await this.execute('CREATE TABLE changed_types (k int PRIMARY KEY, x frozen<changing>)');
  }

  async clean() {
    for (const what of ['TABLE changes', 'TABLE changed_types', 'TYPE changing']) await this.execute(`DROP ${what}`);
  }

  async columns() {
    const read = async () => (await this.execute('SELECT * FROM changes WHERE k = ?', [1])).first().values();
    await this.execute("INSERT INTO changes (k, c, z) VALUES (1, 2, 'z')");
    same(await read(), [1, 2, 'z']);
    await this.execute('ALTER TABLE changes ADD a text');
    await this.execute("UPDATE changes SET a = 'a' WHERE k = 1 AND c = 2");
    for (let i = 0; i < 3; ++i) same(await read(), [1, 2, 'a', 'z']);
    await this.execute('ALTER TABLE changes DROP z');
    same(await read(), [1, 2, 'a']);
  }

  // Another client has prepared the statement again before.
  async columnsOfAnother() {
    const text = 'SELECT * FROM changes WHERE k = ? AND c = ?';
    await this.execute(text, [1, 2]);
    await this.execute('ALTER TABLE changes ADD a0 int');
    await this.execute('UPDATE changes SET a0 = 7 WHERE k = 1 AND c = 2');
    for (const client of [this.another, this.client]) {
      const row = (await client.execute(text, [1, 2], prepare)).first();
      same([row.c, row.a, row.a0], [2, 'a', 7]);
    }
  }

  async fields() {
    const read = async () => (await this.execute('SELECT x FROM changed_types WHERE k = ?', [1])).first().x;
    await this.execute('INSERT INTO changed_types (k, x) VALUES (1, {a: 5})');
    same((await read()).a, 5);
    await this.execute('ALTER TYPE changing ADD b text');
    await this.execute("INSERT INTO changed_types (k, x) VALUES (1, {a: 5, b: 'new'})");
    same([(await read()).a, (await read()).b], [5, 'new']);
    await this.execute('ALTER TYPE changing RENAME b TO bb');
    same((await read()).bb, 'new');
    await this.execute('ALTER TYPE changing RENAME bb TO b');
  }

  async writtenFields() {
    const insert = (value) => this.execute('INSERT INTO changed_types (k, x) VALUES (?, ?)', [2, value]);
    await insert({ a: 5, b: null });
    await this.execute('ALTER TYPE changing ADD c text');
    await insert({ a: 5, b: 'b', c: 'c' });
    const found = await this.execute('SELECT toJson(x) AS x FROM changed_types WHERE k = 2');
    same(JSON.parse(found.first().x), { a: 5, b: 'b', c: 'c' });
  }

  async createdAgain() {
    const insert = (k, c) => this.execute('INSERT INTO changes (k, c) VALUES (?, ?)', [k, c]);
    await insert(1, 2);
    await this.execute('DROP TABLE changes');
    await this.execute('CREATE TABLE changes (k int PRIMARY KEY, c text)');
    // This driver encodes by what it was told first, until it is asked to prepare.
    this.client.metadata.clearPrepared();
    await insert(1, 'text');
    same((await this.execute('SELECT k, c FROM changes')).first().values(), [1, 'text']);
  }
}

module.exports = async (check, using) => {
  for (const maxVersion of [3, 4]) {
    const options = { keyspace: 'clients', protocolOptions: { maxVersion } };
    await using(options, (client) => using(options, async (another) => {
      const changes = new SchemaChanges(client, another);
      await changes.make();
      for (const name of ['columns', 'columnsOfAnother', 'fields', 'writtenFields', 'createdAgain'])
        await check('schema changes', `v${maxVersion}, ${name}`, () => changes[name]());
      await changes.clean();
    }));
  }
};
