// CQL for the editor: colours, completion from the schema, and where statements are.
import type { CompletionContext, CompletionResult, Completion } from '@codemirror/autocomplete';
import { StreamLanguage } from '@codemirror/language';
import { loadColumns, loadSchema, type KeyspaceNode } from './api';
import { name } from './format';

const words =
  'SELECT FROM WHERE AND IN ORDER BY ASC DESC LIMIT PER PARTITION ALLOW FILTERING GROUP DISTINCT AS JSON TOKEN CONTAINS KEY LIKE BETWEEN INSERT INTO VALUES IF NOT EXISTS USING TTL TIMESTAMP UPDATE SET DELETE BEGIN BATCH UNLOGGED COUNTER APPLY TRUNCATE TABLE KEYSPACE CREATE ALTER DROP ADD RENAME TO TYPE INDEX CUSTOM ON MATERIALIZED VIEW IS NULL PRIMARY CLUSTERING STATIC FROZEN WITH OPTIONS FUNCTION AGGREGATE RETURNS LANGUAGE CALLED INPUT SFUNC STYPE FINALFUNC INITCOND OR REPLACE GRANT REVOKE ROLE USER LIST PERMISSIONS OF PASSWORD SUPERUSER LOGIN ALL USE DESCRIBE EXPLAIN TRUE FALSE NAN INFINITY MASKED DEFAULT REPLICATION CAST WRITETIME MAXWRITETIME COUNT MIN MAX AVG SUM NOW UUID ANN'.split(
    ' ',
  );
const types = 'ascii bigint blob boolean counter date decimal double duration float inet int list map set smallint text time timestamp timeuuid tinyint tuple uuid varchar varint vector'.split(' ');
// How statements begin, the most frequent first.
const starts = 'SELECT INSERT UPDATE DELETE CREATE ALTER DROP BEGIN DESCRIBE EXPLAIN USE TRUNCATE GRANT REVOKE LIST'.split(' ');
// What precedes the type of a column or field.
const takesType = /\b(?:create\s+(?:table|type)\b[^;]*[(,]\s*(?!primary\b)\w+|alter\s+(?:table|type)\s+\S+\s+add\s+(?:if\s+not\s+exists\s+)?\w+)\s+(?:\w+<\s*)*$/i;
const keywords = new Set(words);
const typeNames = new Set(types);

interface State {
  open: '' | 'comment' | 'dollar';
  first: string; // the first keyword of the statement
  previous: string;
}
export const cql = StreamLanguage.define<State>({
  name: 'cql',
  startState: () => ({ open: '', first: '', previous: '' }),
  token(stream, state) {
    if (state.open) {
      const end = state.open === 'comment' ? '*/' : '$$';
      while (!stream.eol()) {
        if (stream.match(end)) {
          const was = state.open;
          state.open = '';
          return was === 'comment' ? 'comment' : 'string';
        }
        stream.next();
      }
      return state.open === 'comment' ? 'comment' : 'string';
    }
    if (stream.eatSpace()) return null;
    if (stream.match('--') || stream.match('//')) {
      stream.skipToEnd();
      return 'comment';
    }
    if (stream.match('/*')) {
      state.open = 'comment';
      return 'comment';
    }
    if (stream.match('$$')) {
      state.open = 'dollar';
      return 'string';
    }
    if (stream.match(/^'(?:[^']|'')*'?/)) return 'string';
    if (stream.match(/^"(?:[^"]|"")*"?/)) return 'variableName';
    if (stream.match(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i)) return 'number';
    if (stream.match(/^(0x[0-9a-f]*|-?\d+(\.\d+)?(e[+-]?\d+)?)/i)) return 'number';
    if (stream.match(/^[?:]\w*/)) return 'atom';
    const word = stream.match(/^[a-z]\w*/i) as RegExpMatchArray | null;
    if (word) {
      const text = word[0].toUpperCase();
      const isType = typeNames.has(word[0].toLowerCase()) && (/^(CREATE|ALTER)$/.test(state.first) || state.previous === 'AS');
      state.first ||= text;
      state.previous = text;
      return keywords.has(text) ? 'keyword' : isType ? 'typeName' : 'variableName';
    }
    if (stream.next() === ';') state.first = '';
    return 'operator';
  },
  languageData: { commentTokens: { line: '--', block: { open: '/*', close: '*/' } }, closeBrackets: { brackets: ['(', '[', '{', "'", '"'] } },
});

// The statement around a position, by semicolons outside of strings and comments.
export function statementAt(text: string, position: number): { from: number; to: number } {
  let from = 0;
  const pattern = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\$\$[^]*?\$\$|--[^\n]*|\/\/[^\n]*|\/\*[^]*?\*\/|\bBEGIN\b[^]*?\bAPPLY\s+BATCH\b|;/gi;
  for (const match of text.matchAll(pattern)) {
    if (match[0] !== ';') continue;
    const end = match.index + 1;
    if (end >= position && text.slice(from, end).trim() !== ';') return { from, to: end };
    // The cursor behind the last semicolon of a line still means that statement.
    if (end < position && !text.slice(end).trim()) return { from, to: end };
    from = end;
  }
  return { from, to: text.length };
}

const identifier = '(?:"(?:[^"]|"")+"|[a-z]\\w*)';
const tableUse = new RegExp(`\\b(?:from|into|update|table)\\s+(?:(${identifier})\\s*\\.\\s*)?(${identifier})`, 'gi');
const plain = (text: string) => (text.startsWith('"') ? text.slice(1, -1).replaceAll('""', '"') : text.toLowerCase());

async function columnsOf(statement: string, keyspace: string): Promise<Completion[]> {
  const found: Completion[] = [];
  for (const use of statement.matchAll(tableUse)) {
    const space = use[1] ? plain(use[1]) : keyspace;
    if (!space) continue;
    const columns = await loadColumns(space, plain(use[2])).catch(() => []);
    for (const column of columns.slice(0, 2000))
      found.push({ label: name(column.name), type: 'property', detail: column.type, boost: column.kind === 'partition_key' ? 12 : column.kind === 'clustering' ? 11 : 10 });
  }
  return found;
}

const typesOf = (keyspaces: KeyspaceNode[], keyspace: string): Completion[] => (keyspaces.find((one) => one.name === keyspace)?.types ?? []).map((type) => ({ label: name(type), type: 'type', boost: 5 }));

export const complete =
  (keyspace: () => string) =>
  async (context: CompletionContext): Promise<CompletionResult | null> => {
    const word = context.matchBefore(/"?[\w]*$/);
    if (!word || (word.from === word.to && !context.explicit && !/[.\s(]$/.test(context.state.sliceDoc(word.from - 1, word.from)))) return null;
    const text = context.state.doc.toString();
    const { from, to } = statementAt(text, context.pos);
    const before = text.slice(from, word.from);
    const keyspaces = await loadSchema().catch(() => []);
    const tables = (of: string, boost: number): Completion[] => {
      const node = keyspaces.find((one) => one.name === of);
      return node ? [...node.tables, ...node.views.map((view) => view.name)].map((table) => ({ label: name(table), type: 'class', boost })) : [];
    };
    const qualified = before.match(new RegExp(`(${identifier})\\s*\\.$`, 'i'));
    if (qualified) return { from: word.from, options: tables(plain(qualified[1]), 1), validFor: /^"?\w*$/ };
    if (word.from === word.to && !context.explicit && !/\b(from|into|update|table|use)\s+$/i.test(before)) return null;
    if (/^\s*(--[^\n]*\n\s*)*$/.test(before)) return { from: word.from, validFor: /^\w*$/, options: starts.map((label, i) => ({ label, type: 'keyword', boost: -i })) };
    if (takesType.test(before)) return { from: word.from, validFor: /^\w*$/, options: [...types.map((label) => ({ label, type: 'type' })), ...typesOf(keyspaces, keyspace())] };
    const wantsTable = /\b(from|into|update|table|use|exists)\s+$/i.test(before);
    return {
      from: word.from,
      validFor: /^"?\w*$/,
      options: [
        ...tables(keyspace(), wantsTable ? 20 : 1),
        ...keyspaces.map((one) => ({ label: name(one.name), type: 'namespace', boost: wantsTable ? (one.system ? 5 : 15) : 0 })),
        ...(wantsTable ? [] : await columnsOf(text.slice(from, to), keyspace())),
        ...words.map((label) => ({ label, type: 'keyword' })),
        ...types.map((label) => ({ label, type: 'type', boost: -1 })),
      ],
    };
  };

// The candidate with the fewest changed letters, if they are at most two, or one for short names.
export function nearest(wanted: string, candidates: string[]): string {
  let best = '';
  let least = wanted.length < 4 ? 2 : 3;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - wanted.length) >= least) continue;
    let row = Array.from({ length: candidate.length + 1 }, (_, i) => i);
    for (let i = 1; i <= wanted.length; ++i) {
      const next = [i];
      for (let j = 1; j <= candidate.length; ++j) next[j] = Math.min(next[j - 1] + 1, row[j] + 1, row[j - 1] + (wanted[i - 1].toLowerCase() === candidate[j - 1].toLowerCase() ? 0 : 1));
      row = next;
    }
    if (row[candidate.length] < least) [best, least] = [candidate, row[candidate.length]];
  }
  return best;
}

// Offsets of the server count bytes, those of the editor UTF-16 units.
export function byteToIndex(text: string, bytes: number): number {
  let seen = 0;
  for (let i = 0; i < text.length; ) {
    if (seen >= bytes) return i;
    const point = text.codePointAt(i)!;
    seen += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    i += point > 0xffff ? 2 : 1;
  }
  return text.length;
}
