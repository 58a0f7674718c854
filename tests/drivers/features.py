"""What every client is asked for, and which clients there are: the rows and columns of docs/clients.md."""
# What every client is asked for, in the table's order: the names that programs print, and what the page says of them.
FEATURES = {
    "connect": "connects, and sees the name, version and protocol",
    "metadata": "keyspaces, tables, columns, indexes, views, types, functions, aggregates",
    "token map": "the ring: tokens and the replicas of ranges",
    "routing": "the driver computes the token that the server computes",
    "prepared": "prepared statements, positional and named, and their metadata",
    "paging": "pages, and going on from a paging state",
    "scalars": "every scalar type at its edges, both ways",
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
    "restart": "comes back when the server does",
    "re-prepared": "a prepared statement outlives a restart",
    "login": "logs in; a wrong password is refused",
    "tls": "TLS, trusting the authority that signed the certificate",
}

# The clients: the names of their results, and what the page calls them. A tool is asked only for what it does.
CLIENTS = {
    "python-debian": "Python driver (Debian)",
    "python-pypi": "Python driver (PyPI)",
    "node": "Node driver",
    "java-driver-4": "Java driver 4",
    "java-driver-3": "Java driver 3",
    "gocql": "gocql",
    "rust-scylla": "Rust driver `scylla`",
    "cqlsh": "cqlsh",
    "latte": "latte",
    "dsbulk": "dsbulk",
    "cassandra-stress": "cassandra-stress",
}
