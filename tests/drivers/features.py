"""The features that are tested and the clients: the rows and columns of docs/clients.md."""
# The tested features in the order of the table: the names that programs print, and the descriptions on the
# page.
FEATURES = {
    "connect": "connects, and sees the name, version and protocol",
    "metadata": "keyspaces, tables, columns, indexes, views, types, functions, aggregates",
    "token map": "the ring: tokens and the replicas of ranges",
    "routing": "the driver computes the token that the server computes",
    "prepared": "prepared statements, positional and named, and their metadata",
    "paging": "pages, and continuing from a paging state",
    "scalars": "every scalar type at the limits of its range, read and written",
    "collections": "lists, sets, maps, nested and frozen",
    "user types": "user types and tuples, nested, with null fields",
    "vector": "vectors",
    "absent values": "null, unset and empty",
    "batches": "logged and unlogged, prepared and not",
    "counters": "counter batches",
    "conditions": "conditional writes, applied and not",
    "errors": "errors arrive as the driver's own classes",
    "events": "another session sees a new table",
    "tracing": "traces and their events",
    "lz4": "lz4 compression",
    "snappy": "snappy compression",
    "v5": "protocol version 5",
    "restart": "reconnects after the server restarts",
    "re-prepared": "a prepared statement works after a restart",
    "schema changes": "prepared statements follow ALTER TABLE, ALTER TYPE and a table created again, on each protocol version",
    "login": "logs in; a wrong password is refused",
    "tls": "TLS, trusting the authority that signed the certificate",
}

# The clients: the names of their results, and their titles on the page. A tool is tested only for the
# features that it has.
CLIENTS = {
    "python-debian": "Python driver (Debian)",
    "python-pypi": "Python driver (PyPI)",
    "node": "Node driver",
    "java-driver-4": "Java driver 4",
    "java-driver-3": "Java driver 3",
    "gocql": "gocql 2",
    "gocql-1": "gocql 1",
    "rust-scylla": "Rust driver `scylla`",
    "cqlsh": "cqlsh",
    "latte": "latte",
    "dsbulk": "dsbulk",
    "cassandra-stress": "cassandra-stress",
}
