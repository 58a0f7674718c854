// Errors of statements as diagnostics of the editor, with quick fixes.
import type { Action, Diagnostic } from '@codemirror/lint';
import { loadColumns, loadSchema, type ApiErrorBody } from './api';
import { byteToIndex, nearest } from './cql';
import { name } from './format';

export interface Explained {
  offset: number;
  length: number;
  steps?: (string | null)[][];
  pending?: boolean; // it uses what an earlier statement of the text defines
  markers?: { name: string; type: string }[];
  error?: ApiErrorBody;
  from: number; // in the editor
  to: number;
  text: string; // between them
}

// Statements are run without the spaces before them.
export function shifted(error: ApiErrorBody, text: string): ApiErrorBody {
  const lead = new TextEncoder().encode(text.slice(0, text.length - text.trimStart().length)).length;
  return error.position ? { ...error, position: { ...error.position, offset: error.position.offset + lead } } : error;
}

// What a hint suggests as a change of the text. `from` and `to` are those of the statement.
function fixesOf(error: ApiErrorBody, from: number, to: number): Action[] {
  const better = error.hint.match(/did you mean '?"?([\w.]+)"?'?\?/)?.[1] ?? error.hint.match(/is written in single quotes: ('(?:[^']|'')*')/)?.[1];
  if (better) return [{ name: `Replace with ${better}`, apply: (view, a, b) => view.dispatch({ changes: { from: a, to: b, insert: better } }) }];
  const found: Action[] = [];
  const insert = (name: string, at: (text: string) => number, text: string) =>
    found.push({ name, apply: (view) => view.dispatch({ changes: { from: from + at(view.state.sliceDoc(from, to)), insert: text } }) });
  const index = error.hint.match(/CREATE INDEX ON \S+ \([^)]*\)(?: USING '\w+')?/)?.[0];
  if (index) insert('Create an index first', (text) => text.length - text.trimStart().length, `${index};\n`);
  if (/ALLOW FILTERING/.test(error.message)) insert('Add ALLOW FILTERING', (text) => text.replace(/[\s;]+$/, '').length, ' ALLOW FILTERING');
  const key = error.hint.match(/end the column list with (PRIMARY KEY \([^)]*\))/)?.[1];
  if (key) insert(`Add ${key}`, endOfColumns, `, ${key}`);
  return found;
}

// Where the list in the first parentheses ends.
function endOfColumns(text: string): number {
  let depth = 0;
  for (let i = text.indexOf('('); i >= 0 && i < text.length; ++i) {
    if (text[i] === '(') ++depth;
    if (text[i] === ')' && --depth === 0) return text.slice(0, i).trimEnd().length;
  }
  return text.trimEnd().length;
}

// The name of the schema nearest to the one that an error reports as unknown.
export async function suggest(error: ApiErrorBody, keyspace: string): Promise<string> {
  const column = error.message.match(/Undefined column name "?([^\s"]+)"? in table (\w+)\.(\w+)/);
  const table = error.message.match(/^(?:unconfigured table|table) "?(\w+)"?(?: does not exist)?/i);
  const better = column
    ? nearest(column[1], (await loadColumns(column[2], column[3]).catch(() => [])).map((one) => one.name))
    : table
      ? nearest(table[1], (await loadSchema().catch(() => [])).find((one) => one.name === keyspace)?.tables ?? [])
      : '';
  return better ? `did you mean ${name(better)}?` : '';
}

const word = /^("(?:[^"]|"")*"|'(?:[^']|'')*'|\w+|.)/;
// The name that an error is about, if the server does not know its position.
const named = [/(?:column|table|keyspace|type|object|function|index|role|argument)(?: with)?(?: name)? '?"?(?:\w+\.)?(\w+)/i, /\bgot (\w+)/, /^\w+\.(\w+):\d+: /, /^(\w+) is (?:neither|not part)/, /: (\w+)$/];

// Where an error is, within its statement. A position that is at a keyspace ("shop" of shop.ordres) moves to the name after it if the
// message is about that.
function placeOf(error: ApiErrorBody, statement: string): { from: number; to: number } {
  const names = named.flatMap((pattern) => [error.message.match(pattern)?.[1], error.hint.match(pattern)?.[1]]).filter((one) => one !== undefined);
  const find = (name: string, after: number) => {
    const at = statement.slice(after).search(new RegExp(`\\b${name}\\b`, 'i'));
    return at < 0 ? null : { from: after + at, to: after + at + name.length };
  };
  if (error.position) {
    let from = Math.min(byteToIndex(statement, error.position.offset), statement.length);
    const length = statement.slice(from).match(word)?.[0].length ?? 0;
    const qualified = statement.slice(from + length).match(/^\s*\.\s*(?=(\w+))/);
    if (qualified && names.some((one) => one.toLowerCase() === qualified[1].toLowerCase())) return find(qualified[1], from + length + qualified[0].length)!;
    if (length === 0 && from > 0) --from;
    return { from, to: from + length };
  }
  for (const name of names) {
    const found = find(name, 0);
    if (found) return found;
  }
  const lead = statement.length - statement.trimStart().length;
  return { from: lead, to: lead + (statement.slice(lead).match(/^\S+/)?.[0].length ?? 0) };
}

// Of the statements that have not changed since they were explained.
export function diagnosticsOf(text: string, explained: Explained[]): Diagnostic[] {
  const found: Diagnostic[] = [];
  for (const one of explained) {
    if (!one.error || text.slice(one.from, one.to) !== one.text) continue;
    const { from, to } = placeOf(one.error, one.text);
    found.push({ from: one.from + from, to: one.from + to, severity: 'error', message: one.error.message + (one.error.hint ? `\n${one.error.hint}` : ''), actions: fixesOf(one.error, one.from, one.to) });
  }
  return found;
}
