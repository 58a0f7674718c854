#include "cli/demo/demo_data.h"

namespace sibyl::cli::demo {

const std::string_view definitions = R"cql(
CREATE KEYSPACE demo WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};

-- Films: one partition per film, its ratings sorted by time.
CREATE TABLE demo.movies (title text, time timestamp, rating int, PRIMARY KEY (title, time))
  WITH comment = 'Ratings of films, newest last';

-- A phone book: fields of people, by company.
CREATE TABLE demo.phone_book (company text, name text, field text, value text,
  PRIMARY KEY (company, name, field)) WITH comment = 'Any field of any person, by company';

-- Users and groups: one table for each question.
CREATE TABLE demo.users_by_username (username text PRIMARY KEY, email text, age int);
CREATE TABLE demo.users_by_email (email text PRIMARY KEY, username text, age int);
CREATE TABLE demo.group_members (groupname text, username text, email text, age int,
  PRIMARY KEY (groupname, username)) WITH comment = 'Groups with their members';
CREATE TABLE demo.groups_by_join_date (groupname text, joined int, username text, email text, age int,
  PRIMARY KEY (groupname, joined, username)) WITH CLUSTERING ORDER BY (joined DESC, username ASC);

-- Time buckets: a partition holds one hour of one kind of event.
CREATE TABLE demo.events (hour timestamp, event_type text, time timestamp, id timeuuid, data text,
  PRIMARY KEY ((hour, event_type), time, id))
  WITH CLUSTERING ORDER BY (time DESC, id ASC) AND default_time_to_live = 86400
  AND comment = 'One partition per hour and kind, kept for a day';

-- A product catalogue, with types of its own.
CREATE TYPE demo.price (amount decimal, currency text);
CREATE TABLE demo.products (category text, sku text, name text, price frozen<price>, tags set<text>,
  features map<text, text>, photos list<text>, PRIMARY KEY (category, sku))
  WITH comment = 'Products by category';
CREATE INDEX products_by_name ON demo.products (name) USING 'sai';
CREATE TABLE demo.page_views (sku text PRIMARY KEY, views counter);

-- Modelled badly on purpose: three kinds are three partitions, which grow for ever, and one gets most writes.
CREATE TABLE demo.readings (kind text, at timestamp, sensor uuid, value double,
  PRIMARY KEY (kind, at, sensor)) WITH comment = 'Modelled badly on purpose: see the advisor';

INSERT INTO demo.phone_book (company, name, field, value) VALUES ('Company A', 'John Smith', 'phone', '+1 555 0101');
INSERT INTO demo.phone_book (company, name, field, value) VALUES ('Company A', 'John Smith', 'address', '8th Avenue 12');
INSERT INTO demo.phone_book (company, name, field, value) VALUES ('Company A', 'Jane Anderson', 'phone', '+1 555 0102');
INSERT INTO demo.phone_book (company, name, field, value) VALUES ('Company B', 'Nick Jumbo', 'phone', '+1 555 0103');
INSERT INTO demo.phone_book (company, name, field, value) VALUES ('Company B', 'Andrew Hoe', 'phone', '+1 555 0104');
INSERT INTO demo.phone_book (company, name, field, value) VALUES ('Company B', 'Jeffrey May', 'address', 'Main Street 3');
INSERT INTO demo.products (category, sku, name, price, tags, features, photos) VALUES ('lamps', 'L-100', 'Desk lamp',
  {amount: 39.90, currency: 'EUR'}, {'led', 'metal'}, {'watts': '8', 'colour': 'black'}, ['front.jpg', 'side.jpg']);
INSERT INTO demo.products (category, sku, name, price, tags, features) VALUES ('lamps', 'L-200', 'Floor lamp',
  {amount: 129.00, currency: 'EUR'}, {'led', 'dimmable'}, {'watts': '15', 'colour': 'white'});
INSERT INTO demo.products (category, sku, name, price, tags) VALUES ('chairs', 'C-10', 'Stool',
  {amount: 24.50, currency: 'EUR'}, {'wood'});
INSERT INTO demo.products (category, sku, name, price, tags, features) VALUES ('chairs', 'C-20', 'Armchair',
  {amount: 349.00, currency: 'EUR'}, {'wool', 'wood'}, {'colour': 'green'});
INSERT INTO demo.products (category, sku, name, price, tags) VALUES ('desks', 'D-1', 'Standing desk',
  {amount: 499.00, currency: 'EUR'}, {'oak', 'electric'});
)cql";

}  // namespace sibyl::cli::demo
