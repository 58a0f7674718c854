"""Conversations with a server that requires passwords. The role cassandra still has its default password."""
import itertools
import struct

from vectors import AUTH_RESPONSE, OPTIONS, PREPARE, REGISTER, STARTUP, Talk, bytes_, int_, long_string, string, string_map

# Failed logins delay further logins from the same address, so every connection uses another address.
ADDRESSES = itertools.count(2)
ROLE = "vectors_reader"


def token(user, password):
    return b"\0" + user.encode() + b"\0" + password.encode()


class LoginTalk(Talk):
    """Logs in if `user` is given. Otherwise the server has sent AUTHENTICATE and waits."""

    def __init__(self, address, version, lines, user=None):
        self.user = user
        super().__init__(address, "login", version, lines)

    def open(self, noted=False):
        self.source = (f"127.0.3.{next(ADDRESSES) % 250 + 1}", 0)
        super().open(noted)

    def after_startup(self):
        if self.user:
            self.say(AUTH_RESPONSE, bytes_(token(self.user, self.user)))


def before_login(address, version, lines):
    talk = LoginTalk(address, version, lines)
    talk.is_single = True
    talk.say(OPTIONS)
    talk.query("SELECT key FROM system.local")
    talk.query("SELEC")
    talk.say(PREPARE, long_string("SELECT key FROM system.local") + (int_(0) if version >= 5 else b""))
    talk.batch(["INSERT INTO nowhere.t (k) VALUES (1)"])
    talk.say(REGISTER, struct.pack(">H", 1) + string("SCHEMA_CHANGE"))
    talk.say(STARTUP, string_map(Talk.options))
    talk.close()


def tokens(address, version, lines):
    """Invalid messages instead of a name and a password, each on a separate connection."""
    talk = LoginTalk(address, version, lines)
    talk.is_single = True
    for given in [token("cassandra", "wrong"), token("nobody", "wrong"), token("", "cassandra"), token("cassandra", ""),
                  token("cassandra", "cassandra") + b"\0", b"", None, b"cassandra", b"cassandra\0cassandra", b"\0\0",
                  b"\0" + b"x" * 200 + b"\0y", b"other\0cassandra\0cassandra"]:
        talk.say(AUTH_RESPONSE, bytes_(given))
    talk.say(AUTH_RESPONSE, b"")
    talk.say(AUTH_RESPONSE, int_(100) + b"abc")
    talk.close()


def again(address, version, lines):
    """After a wrong password the connection may try again; after the right one it may not."""
    talk = LoginTalk(address, version, lines)
    talk.say(AUTH_RESPONSE, bytes_(token("cassandra", "wrong")))
    talk.say(AUTH_RESPONSE, bytes_(token("cassandra", "cassandra")))
    talk.query("SELECT key FROM system.local")
    talk.close()
    talk = LoginTalk(address, version, lines, "cassandra")
    talk.query("SELECT key FROM system.local")
    talk.say(AUTH_RESPONSE, bytes_(token("cassandra", "cassandra")))
    talk.say(STARTUP, string_map(Talk.options))
    talk.query("LIST ROLES OF cassandra")
    talk.close()


def refusals(address, version, lines):
    """Errors for a role without permissions."""
    admin = LoginTalk(address, version, [], "cassandra")
    admin.query(f"DROP ROLE IF EXISTS {ROLE}")
    admin.query("DROP KEYSPACE IF EXISTS vectors_secret")
    admin.query(f"CREATE ROLE {ROLE} WITH PASSWORD = '{ROLE}' AND LOGIN = true")
    admin.query("CREATE KEYSPACE vectors_secret WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
    admin.query("CREATE TABLE vectors_secret.t (k int PRIMARY KEY, v int)")
    talk = LoginTalk(address, version, lines, ROLE)
    for text in ["SELECT * FROM vectors_secret.t", "INSERT INTO vectors_secret.t (k, v) VALUES (1, 1)", "TRUNCATE vectors_secret.t",
                 "SELECT * FROM vectors_secret.nothing", "DROP KEYSPACE vectors_secret", "CREATE ROLE other", "LIST ALL PERMISSIONS",
                 f"LIST ROLES OF {ROLE}", f"GRANT SELECT ON ALL KEYSPACES TO {ROLE}", "SELECT role FROM system_auth.roles",
                 "USE vectors_secret"]:
        talk.query(text)
    talk.prepare("SELECT * FROM vectors_secret.t")
    talk.batch(["INSERT INTO vectors_secret.t (k, v) VALUES (1, 1)"])
    admin.query("DROP KEYSPACE vectors_secret")
    admin.query(f"DROP ROLE {ROLE}")
    talk.close()
    admin.close()


def converse(address):
    lines = []
    for version in (3, 4, 5):
        before_login(address, version, lines)
        tokens(address, version, lines)
        again(address, version, lines)
        refusals(address, version, lines)
    return lines
