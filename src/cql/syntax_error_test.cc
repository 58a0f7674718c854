// Compares syntax errors with the recorded answers of Cassandra 5.0.9.
#include <gtest/gtest.h>

#include <string>

#include "cql/parser.h"

namespace sibyl::cql {
namespace {

struct Fact {
  const char* statement;
  const char* message;
};

constexpr Fact facts[] = {
    {R"cql(FOO)cql", R"cql(line 1:0 no viable alternative at input 'FOO' ([FOO]))cql"},
    {R"cql(SELEC * FROM t)cql", R"cql(line 1:0 no viable alternative at input 'SELEC' ([SELEC]...))cql"},
    {R"cql(SELECT * FORM t)cql",
     R"cql(line 1:9 mismatched input 'FORM' expecting K_FROM (SELECT * [FORM]...))cql"},
    {R"cql(SELECT * FROM)cql", R"cql(line 0:-1 no viable alternative at input '<EOF>')cql"},
    {R"cql(SELECT * FROM t WHERE)cql", R"cql(line 0:-1 no viable alternative at input '<EOF>')cql"},
    {R"cql(SELECT * FROM t WHERE a)cql", R"cql(line 0:-1 no viable alternative at input '<EOF>')cql"},
    {R"cql(SELECT * FROM t WHERE a =)cql", R"cql(line 0:-1 no viable alternative at input '<EOF>')cql"},
    {R"cql(SELECT * FROM t WHERE a = 'abc)cql",
     R"cql(line 1:30 mismatched character '<EOF>' expecting ''')cql"},
    {R"cql(SELECT * FROM t foo)cql",
     R"cql(line 1:16 no viable alternative at input 'foo' (SELECT * FROM [t] foo))cql"},
    {R"cql(SELECT * FROM t; SELECT * FROM t)cql",
     R"cql(line 1:17 mismatched input 'SELECT' expecting EOF (SELECT * FROM t; [SELECT]...))cql"},
    {R"cql(SELECT a b FROM t)cql", R"cql(line 1:9 no viable alternative at input 'b' (SELECT [a] b...))cql"},
    {R"cql(SELECT a, FROM t)cql",
     R"cql(line 1:10 no viable alternative at input 'FROM' (SELECT a, [FROM]...))cql"},
    {R"cql(SELECT FROM t)cql", R"cql(line 1:7 no viable alternative at input 'FROM' (SELECT [FROM]...))cql"},
    {R"cql(SELECT (a FROM t)cql",
     R"cql(line 1:10 mismatched input 'FROM' expecting ')' (SELECT (a [FROM] t))cql"},
    {R"cql(SELECT @ FROM t)cql", R"cql(line 1:7 no viable alternative at character '@')cql"},
    {R"cql(INSERT INTO t (a, b VALUES (1, 2))cql",
     R"cql(line 1:20 mismatched input 'VALUES' expecting ')' (...INTO t (a, b [VALUES]...))cql"},
    {R"cql(INSERT INTO t (a, b) VALUES (1, 2)cql",
     R"cql(line 0:-1 mismatched input '<EOF>' expecting ')')cql"},
    {R"cql(INSERT INTO t (a, b) VALUES (1, "x"))cql",
     R"cql(line 1:35 no viable alternative at input ')' (... b) VALUES (1, ["]x")))cql"},
    {R"cql(INSERT INTO t (a, b) VALUE (1, 2))cql",
     R"cql(line 1:21 mismatched input 'VALUE' expecting K_VALUES (... t (a, b) [VALUE]...))cql"},
    {R"cql(INSERT t (a, b) VALUES (1, 2))cql",
     R"cql(line 1:7 mismatched input 't' expecting K_INTO (INSERT [t]...))cql"},
    {R"cql(INSERT INTO t VALUES (1, 2))cql",
     R"cql(line 1:14 no viable alternative at input 'VALUES' (INSERT INTO [t] VALUES...))cql"},
    {R"cql(UPDATE t SET a = 1)cql", R"cql(line 0:-1 mismatched input '<EOF>' expecting K_WHERE)cql"},
    {R"cql(UPDATE t a = 1 WHERE b = 2)cql",
     R"cql(line 1:9 no viable alternative at input 'a' (UPDATE [t] a...))cql"},
    {R"cql(UPDATE t SET a 1 WHERE b = 2)cql",
     R"cql(line 1:15 no viable alternative at input '1' (UPDATE t SET a [1]...))cql"},
    {R"cql(DELETE * FROM t WHERE a = 1)cql",
     R"cql(line 1:7 mismatched input '*' expecting K_FROM (DELETE [*]...))cql"},
    {R"cql(DELETE FROM t)cql", R"cql(line 0:-1 mismatched input '<EOF>' expecting K_WHERE)cql"},
    {R"cql(CREATE TABLE t (a int PRIMARY KEY, order text))cql",
     R"cql(line 1:35 mismatched input 'order' expecting ')' (...(a int PRIMARY KEY, [order]...))cql"},
    {R"cql(CREATE TABLE t (a int PRIMARY KEY b text))cql",
     R"cql(line 1:34 mismatched input 'b' expecting ')' (... (a int PRIMARY KEY [b]...))cql"},
    {R"cql(CREATE TABLE t)cql", R"cql(line 0:-1 mismatched input '<EOF>' expecting '(')cql"},
    {R"cql(CREATE TABLE t (a int, b text, PRIMARY KEY a))cql",
     R"cql(line 1:43 mismatched input 'a' expecting '(' (... b text, PRIMARY KEY [a]...))cql"},
    {R"cql(CREATE TABLE t (a int, PRIMARY KEY (a))cql",
     R"cql(line 0:-1 mismatched input '<EOF>' expecting ')')cql"},
    {R"cql(CREATE KEYSPACE k)cql", R"cql(line 0:-1 mismatched input '<EOF>' expecting K_WITH)cql"},
    {R"cql(CREATE FOO)cql", R"cql(line 1:7 no viable alternative at input 'FOO' ([CREATE] FOO))cql"},
    {R"cql(DROP FOO x)cql", R"cql(line 1:5 no viable alternative at input 'FOO' ([DROP] FOO...))cql"},
    {R"cql()cql", R"cql(line 0:-1 no viable alternative at input '<EOF>')cql"},
    {R"cql(;)cql", R"cql(line 1:0 no viable alternative at input ';' ([;]))cql"},
    {R"cql(SELECT * FROM t WHERE a = "x")cql", R"cql(line 0:-1 no viable alternative at input '<EOF>')cql"},
    {R"cql(SELECT * FROM t WHERE a == 1)cql",
     R"cql(line 1:25 no viable alternative at input '=' (... FROM t WHERE a =[=]...))cql"},
    {R"cql(SELECT * FROM t WHERE a = 1 OR b = 2)cql",
     R"cql(line 1:28 no viable alternative at input 'OR' (...t WHERE a = 1 [OR]...))cql"},
    {R"cql(SELECT * FROM t LIMIT x)cql",
     R"cql(line 1:22 no viable alternative at input 'x' (SELECT * FROM t LIMIT [x]))cql"},
    {R"cql(SELECT * FROM t LIMIT)cql", R"cql(line 0:-1 no viable alternative at input '<EOF>')cql"},
    {R"cql(SELECT * FROM t ORDER a)cql",
     R"cql(line 1:22 mismatched input 'a' expecting K_BY (SELECT * FROM t ORDER [a]))cql"},
    {R"cql(SELECT 1e FROM t)cql", R"cql(line 1:9 no viable alternative at character ' ')cql"},
    {R"cql(SELECT 1.e FROM t)cql",
     R"cql(line 1:10 required (...)+ loop did not match anything at character ' ')cql"},
    {R"cql(SELECT 0xg FROM t)cql",
     R"cql(line 1:9 mismatched input 'g' expecting K_FROM (SELECT 0x[g] FROM...))cql"},
    {R"cql(SELECT 1..2 FROM t)cql",
     R"cql(line 1:8 mismatched input '..' expecting K_FROM (SELECT 1[..]2...))cql"},
    {R"cql(SELECT $$abc FROM t)cql", R"cql(line 1:18 mismatched character 't' expecting '$')cql"},
    {R"cql(SELECT "abc FROM t)cql", R"cql(line 1:18 mismatched character '<EOF>' expecting '"')cql"},
    {R"cql(SELECT /* abc FROM t)cql", R"cql(line 1:20 mismatched character '<EOF>' expecting '*')cql"},
    {R"cql(DESCRIBE SCHEMA x)cql",
     R"cql(line 1:16 mismatched input 'x' expecting EOF (DESCRIBE SCHEMA [x]))cql"},
    {R"cql(CREATE TABLE t (a frozen<int> PRIMARY KEY))cql",
     R"cql(frozen<> is only allowed on collections, tuples, and user-defined types (got int))cql"},
    {R"cql(CREATE TABLE t (a vector<int, 99999999999> PRIMARY KEY))cql",
     R"cql(Failed parsing statement: [CREATE TABLE t (a vector<int, 99999999999> PRIMARY KEY)] reason: NumberFormatException For input string: "99999999999")cql"},
    {R"cql(CREATE TABLE t (a byte PRIMARY KEY))cql", R"cql(Invalid (reserved) user type name byte)cql"},
    {R"cql(SELECT * FROM t WHERE a = - - 1)cql",
     R"cql(line 1:28 no viable alternative at input '-' (...t WHERE a = - [-]...))cql"},
    {R"cql(UPDATE t SET a = b WHERE c = 1)cql",
     R"cql(line 1:19 no viable alternative at input 'WHERE' (UPDATE t SET a = [b] WHERE...))cql"},
    {R"cql(UPDATE t SET a = b + 1 WHERE c = 1)cql",
     R"cql(Only expressions of the form X = X +<value> are supported.)cql"},
    {R"cql(UPDATE t SET a = 1 + b WHERE c = 1)cql",
     R"cql(Only expressions of the form X = <value> + X are supported.)cql"},
    {R"cql(UPDATE t SET a = b -1 WHERE c = 1)cql",
     R"cql(Only expressions of the form X = X - <value> are supported.)cql"},
    {R"cql(UPDATE t SET a = a -1.5 WHERE c = 1)cql",
     R"cql(line 1:19 no viable alternative at input '-1.5' (UPDATE t SET a = [a] -1.5...))cql"},
    {R"cql(UPDATE t SET a = 1, a = 2 WHERE c = 1)cql", R"cql(Multiple incompatible setting of column a)cql"},
    {R"cql(SELECT 'é' b FROM t)cql",
     R"cql(line 1:11 mismatched input 'b' expecting K_FROM (SELECT 'é' [b] FROM...))cql"},
    {R"cql(SELECT '😀', b b FROM t)cql",
     R"cql(line 1:15 no viable alternative at input 'b' (SELECT '😀', [b] b...))cql"},
    {R"cql(SELECT 'abc' b FROM t)cql",
     R"cql(line 1:13 mismatched input 'b' expecting K_FROM (SELECT 'abc' [b] FROM...))cql"},
    {R"cql(SELECT * FROM t WHERE a foo 1)cql",
     R"cql(line 1:24 no viable alternative at input 'foo' (SELECT * FROM t WHERE [a] foo...))cql"},
    {R"cql(SELECT * FROM t WHERE a IN 1)cql",
     R"cql(line 1:27 no viable alternative at input '1' (SELECT * FROM t WHERE [a] IN...))cql"},
    {R"cql(SELECT * FROM t WHERE a IN (1, 2)cql",
     R"cql(line 0:-1 mismatched input '<EOF>' expecting ')')cql"},
    {R"cql(SELECT * FROM t WHERE a.b = 1)cql",
     R"cql(line 1:23 no viable alternative at input '.' (SELECT * FROM t WHERE [a]....))cql"},
    {R"cql(CREATE TABLE t (a int PRIMARY KEY) WITH)cql",
     R"cql(line 0:-1 no viable alternative at input '<EOF>')cql"},
    {R"cql(CREATE TABLE t (a int PRIMARY KEY) WITH x)cql",
     R"cql(line 0:-1 no viable alternative at input '<EOF>')cql"},
    {R"cql(CREATE TABLE t (a int PRIMARY KEY) WITH x = y)cql",
     R"cql(line 1:44 no viable alternative at input 'y' (... int PRIMARY KEY) WITH [x] =...))cql"},
    {R"cql(CREATE TABLE t (a int PRIMARY KEY) WITH x = {1, 2})cql",
     R"cql(line 1:46 mismatched input ',' expecting ':' (...) WITH x = {1[,] 2...))cql"},
    {R"cql(CREATE TABLE t (a int PRIMARY KEY) WITH CLUSTERING ORDER BY a)cql",
     R"cql(line 1:60 mismatched input 'a' expecting '(' (...) WITH CLUSTERING ORDER BY [a]))cql"},
    {R"cql(CREATE TABLE t (a int PRIMARY KEY) WITH CLUSTERING ORDER BY (a))cql",
     R"cql(line 1:62 no viable alternative at input ')' (...WITH CLUSTERING ORDER BY (a[)]))cql"},
    {R"cql(CREATE TABLE t (a PRIMARY KEY))cql",
     R"cql(line 1:18 no viable alternative at input 'PRIMARY' (CREATE TABLE t (a [PRIMARY]...))cql"},
    {R"cql(CREATE TABLE t (a list<int PRIMARY KEY))cql",
     R"cql(line 1:27 mismatched input 'PRIMARY' expecting '>' (... t (a list<int [PRIMARY] KEY...))cql"},
    {R"cql(CREATE TABLE t ())cql",
     R"cql(line 1:16 no viable alternative at input ')' (CREATE TABLE t ([)]))cql"},
    {R"cql(CREATE TABLE IF EXISTS t (a int))cql",
     R"cql(line 1:16 mismatched input 'EXISTS' expecting K_NOT (CREATE TABLE IF [EXISTS]...))cql"},
    {R"cql(USE)cql", R"cql(line 0:-1 no viable alternative at input '<EOF>')cql"},
    {R"cql(USE 'x')cql", R"cql(line 1:4 no viable alternative at input 'x' (USE [']...))cql"},
    {R"cql(TRUNCATE)cql", R"cql(line 0:-1 no viable alternative at input '<EOF>')cql"},
    {R"cql(TRUNCATE t x)cql", R"cql(line 1:11 no viable alternative at input 'x' (TRUNCATE [t] x))cql"},
    {R"cql(ALTER TABLE t)cql", R"cql(line 0:-1 no viable alternative at input '<EOF>')cql"},
    {R"cql(ALTER TABLE t FOO)cql",
     R"cql(line 1:14 no viable alternative at input 'FOO' (ALTER TABLE [t] FOO))cql"},
    {R"cql(ALTER TABLE t ADD)cql", R"cql(line 0:-1 no viable alternative at input '<EOF>')cql"},
    {R"cql(ALTER TABLE t ADD a)cql", R"cql(line 0:-1 no viable alternative at input '<EOF>')cql"},
    {R"cql(ALTER TABLE t DROP)cql", R"cql(line 0:-1 no viable alternative at input '<EOF>')cql"},
    {R"cql(BEGIN BATCH)cql", R"cql(line 0:-1 mismatched input '<EOF>' expecting K_APPLY)cql"},
    {R"cql(BEGIN BATCH SELECT * FROM t APPLY BATCH)cql",
     R"cql(line 1:12 mismatched input 'SELECT' expecting K_APPLY (BEGIN BATCH [SELECT]...))cql"},
    {R"cql(BEGIN BATCH INSERT INTO t (a) VALUES (1))cql",
     R"cql(line 0:-1 mismatched input '<EOF>' expecting K_APPLY)cql"},
    {R"cql(BEGIN BATCH INSERT INTO t (a) VALUES (1) APPLY)cql",
     R"cql(line 0:-1 mismatched input '<EOF>' expecting K_BATCH)cql"},
    {R"cql(GRANT SELECT ON t)cql", R"cql(line 0:-1 mismatched input '<EOF>' expecting K_TO)cql"},
    {R"cql(GRANT FOO ON t TO x)cql",
     R"cql(line 1:10 mismatched input 'ON' expecting K_TO (GRANT FOO [ON]...))cql"},
    {R"cql(LIST)cql", R"cql(line 0:-1 no viable alternative at input '<EOF>')cql"},
    {R"cql(LIST FOO)cql", R"cql(line 1:5 no viable alternative at input 'FOO' ([LIST] FOO))cql"},
    {R"cql(DESCRIBE)cql", R"cql(line 0:-1 no viable alternative at input '<EOF>')cql"},
    {R"cql(CREATE TABLE t (id uuid PRIMARY KEY, name text, from text))cql",
     R"cql(line 1:48 mismatched input 'from' expecting ')' (...PRIMARY KEY, name text, [from]...))cql"},
    {R"cql(CREATE TABLE t (id uuid PRIMARY KEY, token text))cql",
     R"cql(line 1:37 mismatched input 'token' expecting ')' (...(id uuid PRIMARY KEY, [token]...))cql"},
    {R"cql(CREATE TABLE t (id int NOT NULL PRIMARY KEY))cql",
     R"cql(line 1:23 no viable alternative at input 'NOT' (CREATE TABLE t (id [int] NOT...))cql"},
    {R"cql(CREATE TABLE t (id varchar(20) PRIMARY KEY))cql",
     R"cql(line 1:26 no viable alternative at input '(' (CREATE TABLE t (id [varchar](...))cql"},
    {R"cql(CREATE TABLE t (id int AUTO_INCREMENT PRIMARY KEY))cql",
     R"cql(line 1:23 no viable alternative at input 'AUTO_INCREMENT' (CREATE TABLE t (id [int] AUTO_INCREMENT...))cql"},
    {R"cql(CREATE TABLE t (id integer, PRIMARY KEY ((id)))cql",
     R"cql(line 0:-1 mismatched input '<EOF>' expecting ')')cql"},
    {R"cql(CREATE TABLE (id int PRIMARY KEY))cql",
     R"cql(line 1:13 no viable alternative at input '(' (CREATE TABLE [(]...))cql"},
    {R"cql(CREATE TABLE 1t (id int PRIMARY KEY))cql",
     R"cql(line 1:13 no viable alternative at input '1' (CREATE TABLE [1]...))cql"},
    {R"cql(CREATE TABLE my-table (id int PRIMARY KEY))cql",
     R"cql(line 1:15 no viable alternative at input '-' (CREATE TABLE [my]-...))cql"},
    {R"cql(CREATE TABLE t id int PRIMARY KEY)cql",
     R"cql(line 1:15 no viable alternative at input 'id' (CREATE TABLE [t] id...))cql"},
    {R"cql(CREATE TABLE t (id int PRIMARY KEY) WITH comment 'x')cql",
     R"cql(line 1:49 no viable alternative at input 'x' (... int PRIMARY KEY) WITH [comment] '...))cql"},
    {R"cql(CREATE TABLE t (id int PRIMARY KEY) comment = 'x')cql",
     R"cql(line 1:36 mismatched input 'comment' expecting EOF (...(id int PRIMARY KEY) [comment]...))cql"},
    {R"cql(CREATE TABLE t (id int PRIMARY KEY) WITH CLUSTERING ORDER BY id DESC)cql",
     R"cql(line 1:61 mismatched input 'id' expecting '(' (...) WITH CLUSTERING ORDER BY [id]...))cql"},
    {R"cql(CREATE TABLE t (id int, PRIMARY KEY id))cql",
     R"cql(line 1:36 mismatched input 'id' expecting '(' (...(id int, PRIMARY KEY [id]...))cql"},
    {R"cql(CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1)cql",
     R"cql(line 0:-1 mismatched input '<EOF>' expecting '}')cql"},
    {R"cql(CREATE KEYSPACE ks WITH replication = ('class': 'SimpleStrategy'))cql",
     R"cql(line 1:38 no viable alternative at input '(' (CREATE KEYSPACE ks WITH [replication] =...))cql"},
    {R"cql(CREATE KEYSPACE ks REPLICATION = {'class': 'SimpleStrategy'})cql",
     R"cql(line 1:19 mismatched input 'REPLICATION' expecting K_WITH (CREATE KEYSPACE ks [REPLICATION]...))cql"},
    {R"cql(CREATE KEYSPACE my-ks WITH replication = {'class': 'SimpleStrategy'})cql",
     R"cql(line 1:18 mismatched input '-' expecting K_WITH (CREATE KEYSPACE my[-]...))cql"},
    {R"cql(CREATE KEYSPACE ks WITH replication = {"class": "SimpleStrategy"})cql",
     R"cql(line 1:46 no viable alternative at input ':' (... ks WITH replication = {["clas]s":...))cql"},
    {R"cql(CREATE INDEX ON t name)cql",
     R"cql(line 1:18 no viable alternative at input 'name' (CREATE INDEX ON [t] name))cql"},
    {R"cql(CREATE INDEX t (name))cql",
     R"cql(line 1:15 mismatched input '(' expecting K_ON (CREATE INDEX t [(]...))cql"},
    {R"cql(CREATE TYPE address (street text city text))cql",
     R"cql(line 1:33 no viable alternative at input 'city' (CREATE TYPE address (street [text] city...))cql"},
    {R"cql(CREATE TYPE address {street text})cql",
     R"cql(line 1:20 mismatched input '{' expecting '(' (CREATE TYPE address [{]...))cql"},
    {R"cql(INSERT INTO t (a, b) (1, 2))cql",
     R"cql(line 1:21 mismatched input '(' expecting K_VALUES (... t (a, b) [(]...))cql"},
    {R"cql(INSERT INTO t a, b VALUES (1, 2))cql",
     R"cql(line 1:14 no viable alternative at input 'a' (INSERT INTO [t] a...))cql"},
    {R"cql(INSERT INTO t (a, b) VALUES 1, 2)cql",
     R"cql(line 1:28 mismatched input '1' expecting '(' (... (a, b) VALUES [1]...))cql"},
    {R"cql(INSERT INTO t (a, b) VALUES (1, it's))cql",
     R"cql(line 1:37 mismatched character '<EOF>' expecting ''')cql"},
    {R"cql(INSERT INTO t (a, b) VALUES (1, 'it's'))cql",
     R"cql(line 1:36 no viable alternative at input 's' (...b) VALUES (1, 'it'[s]...))cql"},
    {R"cql(INSERT INTO t (a, b) VALUES (1, abc))cql",
     R"cql(line 1:35 no viable alternative at input ')' (... b) VALUES (1, [abc])))cql"},
    {R"cql(INSERT INTO t (a, b) VALUES (1, 2) USING TTL)cql",
     R"cql(line 0:-1 no viable alternative at input '<EOF>')cql"},
    {R"cql(INSERT INTO t (a, b) VALUES (1, 2) USING TTL x)cql",
     R"cql(line 1:45 no viable alternative at input 'x' (...1, 2) USING TTL [x]))cql"},
    {R"cql(INSERT INTO t (a, b) VALUES (1, 2) IF EXISTS)cql",
     R"cql(line 1:38 mismatched input 'EXISTS' expecting K_NOT (... (1, 2) IF [EXISTS]))cql"},
    {R"cql(INSERT INTO t (a, b) VALUES (1, 2,))cql",
     R"cql(line 1:34 no viable alternative at input ')' (...) VALUES (1, 2,[)]))cql"},
    {R"cql(INSERT INTO t (a, b) VALUES (1 2))cql",
     R"cql(line 1:31 no viable alternative at input '2' (..., b) VALUES (1 [2]...))cql"},
    {R"cql(INSERT INTO t (a, b,) VALUES (1, 2))cql",
     R"cql(line 1:20 no viable alternative at input ')' (...INTO t (a, b,[)]...))cql"},
    {R"cql(INSERT t (a) VALUES (1))cql",
     R"cql(line 1:7 mismatched input 't' expecting K_INTO (INSERT [t]...))cql"},
    {R"cql(INSERT INTO (a) VALUES (1))cql",
     R"cql(line 1:12 no viable alternative at input '(' (INSERT INTO [(]...))cql"},
    {R"cql(UPDATE t SET a = 1 b = 2 WHERE c = 3)cql",
     R"cql(line 1:19 no viable alternative at input 'b' (...t SET a = 1 [b]...))cql"},
    {R"cql(UPDATE t SET a = 1, WHERE c = 3)cql",
     R"cql(line 1:20 no viable alternative at input 'WHERE' (... SET a = 1, [WHERE]...))cql"},
    {R"cql(UPDATE t SET WHERE c = 3)cql",
     R"cql(line 1:13 no viable alternative at input 'WHERE' (UPDATE t SET [WHERE]...))cql"},
    {R"cql(UPDATE SET a = 1 WHERE c = 3)cql",
     R"cql(line 1:7 no viable alternative at input 'SET' (UPDATE [SET]...))cql"},
    {R"cql(UPDATE t WHERE c = 3)cql",
     R"cql(line 1:9 mismatched input 'WHERE' expecting K_SET (UPDATE t [WHERE] c...))cql"},
    {R"cql(UPDATE t SET a = 1 WHERE)cql", R"cql(line 0:-1 no viable alternative at input '<EOF>')cql"},
    {R"cql(UPDATE t SET a = "x" WHERE c = 3)cql",
     R"cql(line 1:21 no viable alternative at input 'WHERE' (UPDATE t SET a = ["]x" WHERE...))cql"},
    {R"cql(UPDATE t SET a = 1 IF a = 2)cql",
     R"cql(line 1:19 mismatched input 'IF' expecting K_WHERE (...t SET a = 1 [IF] a...))cql"},
    {R"cql(UPDATE t SET a == 1 WHERE c = 3)cql",
     R"cql(line 1:16 no viable alternative at input '=' (UPDATE t SET a =[=]...))cql"},
    {R"cql(UPDATE t SET a++ WHERE c = 3)cql",
     R"cql(line 1:14 no viable alternative at input '+' (UPDATE t SET a[+]...))cql"},
    {R"cql(DELETE t WHERE a = 1)cql",
     R"cql(line 1:9 no viable alternative at input 'WHERE' (DELETE [t] WHERE...))cql"},
    {R"cql(DELETE FROM WHERE a = 1)cql",
     R"cql(line 1:12 no viable alternative at input 'WHERE' (DELETE FROM [WHERE]...))cql"},
    {R"cql(DELETE FROM t a = 1)cql",
     R"cql(line 1:14 no viable alternative at input 'a' (DELETE FROM [t] a...))cql"},
    {R"cql(DELETE a FROM t WHERE a)cql", R"cql(line 0:-1 no viable alternative at input '<EOF>')cql"},
    {R"cql(SELECT * t)cql", R"cql(line 1:9 mismatched input 't' expecting K_FROM (SELECT * [t]))cql"},
    {R"cql(SELECT * FROM t WHERE a = 1 AND)cql", R"cql(line 0:-1 no viable alternative at input '<EOF>')cql"},
    {R"cql(SELECT * FROM t WHERE a = 1 b = 2)cql",
     R"cql(line 1:28 no viable alternative at input 'b' (...t WHERE a = 1 [b]...))cql"},
    {R"cql(SELECT * FROM t WHERE a = 1, b = 2)cql",
     R"cql(line 1:27 mismatched input ',' expecting EOF (... t WHERE a = 1[,] b...))cql"},
    {R"cql(SELECT * FROM t WHERE a <> 1)cql",
     R"cql(line 1:25 no viable alternative at input '>' (... FROM t WHERE a <[>]...))cql"},
    {R"cql(SELECT * FROM t WHERE a != = 1)cql",
     R"cql(line 1:27 no viable alternative at input '=' (...FROM t WHERE a != [=]...))cql"},
    {R"cql(SELECT * FROM t WHERE a => 1)cql",
     R"cql(line 1:25 no viable alternative at input '>' (... FROM t WHERE a =[>]...))cql"},
    {R"cql(SELECT * FROM t WHERE a IS NULL)cql",
     R"cql(line 1:27 mismatched input 'NULL' expecting K_NOT (...FROM t WHERE a IS [NULL]))cql"},
    {R"cql(SELECT * FROM t WHERE NOT a = 1)cql",
     R"cql(line 1:22 no viable alternative at input 'NOT' (SELECT * FROM t WHERE [NOT]...))cql"},
    {R"cql(SELECT * FROM t WHERE a = 'x)cql",
     R"cql(line 1:28 mismatched character '<EOF>' expecting ''')cql"},
    {R"cql(SELECT * FROM t WHERE a = x')cql",
     R"cql(line 1:28 mismatched character '<EOF>' expecting ''')cql"},
    {R"cql(SELECT * FROM t WHERE a = x)cql", R"cql(line 0:-1 no viable alternative at input '<EOF>')cql"},
    {R"cql(SELECT * FROM t WHERE a IN 1, 2)cql",
     R"cql(line 1:27 no viable alternative at input '1' (SELECT * FROM t WHERE [a] IN...))cql"},
    {R"cql(SELECT * FROM t WHERE a IN (1, 2,))cql",
     R"cql(line 1:33 no viable alternative at input ')' (...a IN (1, 2,[)]))cql"},
    {R"cql(SELECT * FROM t WHERE a LIKE %x%)cql",
     R"cql(line 1:29 no viable alternative at input '%' (...FROM t WHERE a LIKE [%]...))cql"},
    {R"cql(SELECT * FROM t ORDER BY)cql", R"cql(line 0:-1 no viable alternative at input '<EOF>')cql"},
    {R"cql(SELECT * FROM t GROUP a)cql",
     R"cql(line 1:22 mismatched input 'a' expecting K_BY (SELECT * FROM t GROUP [a]))cql"},
    {R"cql(SELECT * FROM t LIMIT 10 OFFSET 5)cql",
     R"cql(line 1:25 mismatched input 'OFFSET' expecting EOF (...* FROM t LIMIT 10 [OFFSET]...))cql"},
    {R"cql(SELECT * FROM t LIMIT 10, 5)cql",
     R"cql(line 1:24 mismatched input ',' expecting EOF (... * FROM t LIMIT 10[,]...))cql"},
    {R"cql(SELECT * FROM t LIMIT 'a')cql",
     R"cql(line 1:22 no viable alternative at input 'a' (SELECT * FROM t LIMIT [']...))cql"},
    {R"cql(SELECT * FROM t ALLOW FILTER)cql",
     R"cql(line 1:22 mismatched input 'FILTER' expecting K_FILTERING (SELECT * FROM t ALLOW [FILTER]))cql"},
    {R"cql(SELECT * FROM t ALLOW)cql", R"cql(line 0:-1 mismatched input '<EOF>' expecting K_FILTERING)cql"},
    {R"cql(SELECT * FROM t JOIN u ON t.a = u.a)cql",
     R"cql(line 1:16 no viable alternative at input 'JOIN' (SELECT * FROM [t] JOIN...))cql"},
    {R"cql(SELECT * FROM t, u)cql",
     R"cql(line 1:15 no viable alternative at input ',' (SELECT * FROM [t],...))cql"},
    {R"cql(SELECT * FROM t AS x)cql",
     R"cql(line 1:16 mismatched input 'AS' expecting EOF (SELECT * FROM t [AS] x))cql"},
    {R"cql(SELECT a. FROM t)cql",
     R"cql(line 1:10 no viable alternative at input 'FROM' (SELECT [a]. ...))cql"},
    {R"cql(SELECT count(* FROM t)cql",
     R"cql(line 1:15 mismatched input 'FROM' expecting ')' (SELECT count(* [FROM]...))cql"},
    {R"cql(SELECT count(*) AS FROM t)cql",
     R"cql(line 1:19 no viable alternative at input 'FROM' (SELECT count(*) AS [FROM]...))cql"},
    {R"cql(SELECT CAST(a text) FROM t)cql",
     R"cql(line 1:14 no viable alternative at input 'text' (SELECT CAST([a] text...))cql"},
    {R"cql(SELECT CAST(a AS foo) FROM t)cql",
     R"cql(line 1:17 no viable alternative at input 'foo' (SELECT CAST(a AS [foo]...))cql"},
    {R"cql(SELECT a FROM t WHERE a = 1;;x)cql",
     R"cql(line 1:29 mismatched input 'x' expecting EOF (... WHERE a = 1;;[x]))cql"},
    {R"cql(SELECT TOP 10 * FROM t)cql",
     R"cql(line 1:11 no viable alternative at input '10' (SELECT [TOP] 10...))cql"},
    {R"cql(SELEKT * FROM t)cql", R"cql(line 1:0 no viable alternative at input 'SELEKT' ([SELEKT]...))cql"},
    {R"cql(SHOW TABLES)cql", R"cql(line 1:0 no viable alternative at input 'SHOW' ([SHOW]...))cql"},
    {R"cql(EXPLAN SELECT * FROM t)cql",
     R"cql(line 1:0 no viable alternative at input 'EXPLAN' ([EXPLAN]...))cql"},
    {R"cql(DROP t)cql", R"cql(line 1:5 no viable alternative at input 't' ([DROP] t))cql"},
    {R"cql(DROP TABLE)cql", R"cql(line 0:-1 no viable alternative at input '<EOF>')cql"},
    {R"cql(DROP TABLE t u)cql", R"cql(line 1:13 no viable alternative at input 'u' (DROP TABLE [t] u))cql"},
    {R"cql(DROP TABLE t, u)cql",
     R"cql(line 1:12 no viable alternative at input ',' (DROP TABLE [t],...))cql"},
    {R"cql(DROP KEYSPACE)cql", R"cql(line 0:-1 no viable alternative at input '<EOF>')cql"},
    {R"cql(DROP INDEX i ON t)cql",
     R"cql(line 1:13 no viable alternative at input 'ON' (DROP INDEX [i] ON...))cql"},
    {R"cql(ALTER TABLE t ADD COLUMN a int)cql",
     R"cql(line 1:27 mismatched input 'int' expecting EOF (...TABLE t ADD COLUMN a [int]))cql"},
    {R"cql(ALTER TABLE t ADD a int, b int)cql",
     R"cql(line 1:23 mismatched input ',' expecting EOF (... TABLE t ADD a int[,] b...))cql"},
    {R"cql(ALTER TABLE t DROP COLUMN a)cql",
     R"cql(line 1:26 mismatched input 'a' expecting EOF (ALTER TABLE t DROP COLUMN [a]))cql"},
    {R"cql(ALTER TABLE t MODIFY a int)cql",
     R"cql(line 1:14 no viable alternative at input 'MODIFY' (ALTER TABLE [t] MODIFY...))cql"},
    {R"cql(ALTER TABLE t RENAME a b)cql",
     R"cql(line 1:23 mismatched input 'b' expecting K_TO (ALTER TABLE t RENAME a [b]))cql"},
    {R"cql(ALTER TABLE t RENAME a AS b)cql",
     R"cql(line 1:23 mismatched input 'AS' expecting K_TO (ALTER TABLE t RENAME a [AS]...))cql"},
    {R"cql(ALTER KEYSPACE ks)cql", R"cql(line 0:-1 mismatched input '<EOF>' expecting K_WITH)cql"},
    {R"cql(TRUNCATE TABLE)cql", R"cql(line 0:-1 no viable alternative at input '<EOF>')cql"},
    {R"cql(USE ks.t)cql", R"cql(line 1:6 mismatched input '.' expecting EOF (USE ks[.]...))cql"},
    {R"cql(USE "ks)cql", R"cql(line 1:7 mismatched character '<EOF>' expecting '"')cql"},
    {R"cql(BEGIN TRANSACTION)cql",
     R"cql(line 1:6 mismatched input 'TRANSACTION' expecting K_BATCH (BEGIN [TRANSACTION]))cql"},
    {R"cql(BEGIN BATCH INSERT INTO t (a) VALUES (1); APPLY)cql",
     R"cql(line 0:-1 mismatched input '<EOF>' expecting K_BATCH)cql"},
    {R"cql(BEGIN BATCH; INSERT INTO t (a) VALUES (1); APPLY BATCH)cql",
     R"cql(line 1:11 mismatched input ';' expecting K_APPLY (BEGIN BATCH[;]...))cql"},
    {R"cql(BATCH INSERT INTO t (a) VALUES (1) APPLY BATCH)cql",
     R"cql(line 1:0 no viable alternative at input 'BATCH' ([BATCH]...))cql"},
    {R"cql(GRANT SELECT TO bob)cql",
     R"cql(line 1:13 mismatched input 'TO' expecting K_ON (GRANT SELECT [TO]...))cql"},
    {R"cql(GRANT SELECT ON ks.t bob)cql",
     R"cql(line 1:21 mismatched input 'bob' expecting K_TO (GRANT SELECT ON ks.t [bob]))cql"},
    {R"cql(REVOKE SELECT ON t TO bob)cql",
     R"cql(line 1:19 mismatched input 'TO' expecting K_FROM (REVOKE SELECT ON t [TO] bob))cql"},
    {R"cql(CREATE ROLE bob PASSWORD = 'x')cql",
     R"cql(line 1:16 mismatched input 'PASSWORD' expecting EOF (CREATE ROLE bob [PASSWORD]...))cql"},
    {R"cql(CREATE ROLE bob WITH PASSWORD 'x')cql",
     R"cql(line 1:30 mismatched input 'x' expecting '=' (CREATE ROLE bob WITH PASSWORD [']...))cql"},
    {R"cql(CREATE ROLE bob WITH LOGIN = yes)cql",
     R"cql(line 1:29 mismatched input 'yes' expecting BOOLEAN (...ROLE bob WITH LOGIN = [yes]))cql"},
    {R"cql(CREATE USER bob PASSWORD 'x')cql",
     R"cql(line 1:16 mismatched input 'PASSWORD' expecting EOF (CREATE USER bob [PASSWORD]...))cql"},
    {R"cql(CREATE USER "bob" WITH PASSWORD 'x')cql",
     R"cql(Quoted strings are are not supported for user names and USER is deprecated, please use ROLE)cql"},
    {R"cql(LIST PERMISSIONS)cql",
     R"cql(line 1:5 no viable alternative at input 'PERMISSIONS' ([LIST] PERMISSIONS))cql"},
    {R"cql(CREATE FUNCTION f(a int) RETURNS int LANGUAGE java AS 'x')cql",
     R"cql(line 1:33 mismatched input 'int' expecting K_NULL (... f(a int) RETURNS [int]...))cql"},
    {R"cql(CREATE FUNCTION f(a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS "x")cql",
     R"cql(line 1:75 mismatched input 'x' expecting STRING_LITERAL (...RETURNS int LANGUAGE java AS ["]...))cql"},
    {R"cql(SELECT * FROM t WHERE a = 1 # comment)cql",
     R"cql(line 1:28 no viable alternative at character '#')cql"},
    {R"cql(SELECT * FROM t WHERE a = `x`)cql", R"cql(line 1:26 no viable alternative at character '`')cql"},
    {R"cql(SELECT * FROM t
WHERE a = 1
  ANDD b = 2)cql",
     R"cql(line 3:2 no viable alternative at input 'ANDD' (...tWHERE a = 1  [ANDD]...))cql"},
    {R"cql(SELECT *
FROM t
WHERE a = 'x'
ORDER a)cql",
     R"cql(line 4:6 mismatched input 'a' expecting K_BY (...WHERE a = 'x'ORDER [a]))cql"},
    {R"cql(INSERT INTO t (a)
VALUES ('é', "y"))cql",
     R"cql(line 2:16 no viable alternative at input ')' (...(a)VALUES ('é', ["]y")))cql"},
    {R"cql(SELECT 'héllo wörld', * FROM t)cql",
     R"cql(line 1:22 no viable alternative at input '*' (SELECT 'héllo wörld', [*]...))cql"},
    {R"cql(SELECT '日本', b c FROM t)cql",
     R"cql(line 1:15 no viable alternative at input 'c' (SELECT '日本', [b] c...))cql"},
};

TEST(SyntaxError, MatchesCassandrasTexts) {
  for (const Fact& fact : facts) {
    const auto result = parse_statement(fact.statement);
    ASSERT_FALSE(result.has_value()) << fact.statement;
    EXPECT_EQ(result.error().message(), fact.message) << fact.statement;
    EXPECT_EQ(result.error().code(), base::ErrorCode::syntax) << fact.statement;
    EXPECT_TRUE(result.error().position().has_value()) << fact.statement;
  }
}

std::string hint_of(std::string_view statement) {
  const auto result = parse_statement(statement);
  EXPECT_FALSE(result.has_value()) << statement;
  return result ? "" : result.error().hint();
}

TEST(SyntaxError, SuggestsWhatWasMeant) {
  EXPECT_EQ(hint_of("INSERT INTO t (a) VALUES (\"x\")"),
            "strings take single quotes: 'x'; double quotes are for names");
  EXPECT_EQ(hint_of("SELECT * FROM t WHERE a = \"x\" AND b = 1"),
            "strings take single quotes: 'x'; double quotes are for names");
  EXPECT_EQ(hint_of("SELECT * FROM t WHERE size = large"),
            "a column cannot be used as a value here; strings take single quotes: 'large'");
  EXPECT_EQ(hint_of("SELECT a b FROM t"), "");
  EXPECT_EQ(hint_of("SELEKT * FROM t"), "did you mean SELECT?");
  EXPECT_EQ(hint_of("INSRET INTO t (a) VALUES (1)"), "did you mean INSERT?");
  EXPECT_EQ(hint_of("CREATE TABLE t (a int PRIMARY KEY, order text)"),
            "order is a reserved word; as a name, write \"order\"");
  EXPECT_EQ(hint_of("SELECT order FROM t"), "order is a reserved word; as a name, write \"order\"");
  for (const char* statement :
       {"SELECT * FROM order", "SELECT * FROM order WHERE k = 1", "UPDATE order SET v = 1 WHERE k = 1",
        "INSERT INTO order (k) VALUES (1)", "CREATE TABLE order (k int PRIMARY KEY)"})
    EXPECT_EQ(hint_of(statement), "order is a reserved word; as a name, write \"order\"") << statement;
  EXPECT_EQ(hint_of("SELECT * FROM WHERE k = 1"), "");
  EXPECT_EQ(hint_of("SELECT * FROM t WHERE a = 1 OR b = 2"),
            "CQL has no OR: use IN for several values of a column, or several statements");
  EXPECT_EQ(hint_of("INSERT INTO t (a) VALUES ('it's')"),
            "a quote inside a string is written twice: 'it''s'");
  EXPECT_EQ(hint_of("SHOW TABLES"), "DESCRIBE TABLES lists tables, DESCRIBE KEYSPACES keyspaces");
  EXPECT_EQ(hint_of("CREATE TABLE t (a int PRIMARY KEY, b varchar(20))"),
            "types have no length or precision in CQL: write varchar");
  EXPECT_EQ(hint_of("CREATE TABLE t (a int PRIMARY KEY, b char(1))"),
            "types have no length or precision in CQL: write text");
  EXPECT_EQ(hint_of("CREATE TABLE t (a int PRIMARY KEY, b lst<int>)"), "did you mean list<…>?");
  EXPECT_EQ(hint_of("CREATE TABLE t (a int NOT NULL, PRIMARY KEY (a))"),
            "columns outside the primary key may always be null: omit NOT NULL");
  const std::string joins = "CQL has no joins: store data that is read together in one table";
  EXPECT_EQ(hint_of("SELECT * FROM k.a JOIN k.b ON x = y"), joins);
  EXPECT_EQ(hint_of("SELECT * FROM k.a, k.b"), joins);
  EXPECT_EQ(hint_of("SELECT * FROM a, b"), joins);
  EXPECT_EQ(hint_of("SELECT * FROM a LEFT JOIN b ON a.k = b.k"), joins);
  for (const char* statement : {"SELECT * FROM k.a x JOIN k.b y ON x.k = y.k", "SELECT * FROM a AS x"})
    EXPECT_EQ(hint_of(statement), "CQL has no aliases of tables and no joins: write each column by its name")
        << statement;
  EXPECT_EQ(hint_of("SELECT * FROM t WEHRE a = 1"), "did you mean WHERE?");
  EXPECT_EQ(hint_of("SELECT * FROM k.t LIMTI 1"), "did you mean LIMIT?");
  EXPECT_EQ(hint_of("SELECT coutn(*) FROM t"), "did you mean count(*)?");
  EXPECT_EQ(hint_of("SELECT max(*) FROM t"), "only count takes *: count(*)");
  EXPECT_EQ(hint_of("DELETE FROM k.t"), "TRUNCATE deletes all rows of a table");
  EXPECT_EQ(hint_of("DELETE FROM t;"), "TRUNCATE deletes all rows of a table");
  EXPECT_EQ(hint_of("DELETE FROM"), "");
  EXPECT_EQ(hint_of("SELECT * FROM t WHERE a = 1 AND b IS NULL"),
            "CQL cannot search for null: store a value that stands for it");
  EXPECT_EQ(hint_of("INSERT INTO t VALUES (1, 2)"),
            "name the columns: INSERT INTO table (column, …) VALUES (…)");
  EXPECT_EQ(hint_of("SELECT a, b c FROM t"), "");
  EXPECT_EQ(hint_of("SELECT FROM t"), "");
  EXPECT_EQ(hint_of("UPDATE t SET WHERE a = 1"), "");
}

TEST(SyntaxError, PositionsPointIntoTheText) {
  const auto position = [](std::string_view statement) {
    const auto result = parse_statement(statement);
    EXPECT_FALSE(result.has_value());
    return *result.error().position();
  };
  const base::Position second_line = position("SELECT 'é'\n, b c FROM t");
  EXPECT_EQ(second_line.line, 2u);
  EXPECT_EQ(second_line.column, 4u);
  EXPECT_EQ(second_line.offset, 16u);
  // The text says "line 0:-1" at the end, as in Cassandra; the position is the real one.
  const base::Position end = position("SELECT * FROM");
  EXPECT_EQ(end.line, 1u);
  EXPECT_EQ(end.column, 13u);
  EXPECT_EQ(end.offset, 13u);
}

TEST(SyntaxError, LongLiteralsAreShortenedInMessages) {
  const std::string text(100'000, 'x');
  for (const std::string& statement :
       {"SELECT '" + text + "' '" + text + "'", "SELECT \"" + text + "\" " + text,
        "CREATE TABLE t (a \"" + text + "\" b", "USE '" + text + "é'"}) {
    const auto result = parse_statement(statement);
    ASSERT_FALSE(result.has_value());
    EXPECT_LT(result.error().text().size(), 10'000u) << statement.substr(0, 30);
  }
}

TEST(SyntaxError, InvalidUtf8IsASyntaxError) {
  const auto result = parse_statement("SELECT *\nFROM t WHERE é = '\xff'");
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code(), base::ErrorCode::syntax);
  EXPECT_EQ(result.error().message(), "line 2:18 the statement is not valid UTF-8");
}

}  // namespace
}  // namespace sibyl::cql
