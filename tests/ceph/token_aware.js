// Writes and reads many partitions with the Node driver, unmodified: HOST PORT COUNT. Prints how many statements it has executed.
'use strict';
const cassandra = require('cassandra-driver');

async function main() {
  const [host, port, count] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
  const client = new cassandra.Client({ contactPoints: [host], protocolOptions: { port }, localDataCenter: 'datacenter1', keyspace: 'ks' });
  await client.connect();
  const hosts = client.hosts.values();
  if (hosts.length !== 3) throw new Error(`it knows ${hosts.length} hosts`);
  for (let key = 0; key < count; ++key) {
    await client.execute('INSERT INTO t (k, v) VALUES (?, ?)', [key, 'node'], { prepare: true });
    const result = await client.execute('SELECT v FROM t WHERE k = ?', [key], { prepare: true });
    if (result.rows[0].v !== 'node') throw new Error(`partition ${key} has ${result.rows[0].v}`);
  }
  await client.shutdown();
  console.log(2 * count);
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
