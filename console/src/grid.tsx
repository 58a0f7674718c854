// A result as a grid that distinguishes types and nulls.
import { useState } from 'preact/hooks';
import type { Cell, Column } from './api';
import { bytes, count } from './format';
import { CopyButton, Dialog } from './ui';

const numeric = /^(tinyint|smallint|int|bigint|varint|counter|float|double|decimal)$/;
const maxCells = 20_000;
const maxColumns = 200;

export const textOf = (cell: Cell): string => (cell === null ? '' : typeof cell === 'string' ? cell : cell.text);

// A value as JSON: numbers as such, composites as the server wrote them.
function jsonOf(cell: Cell, type: string): string {
  if (cell === null) return 'null';
  if (typeof cell !== 'string' && cell.json) return cell.json;
  const text = textOf(cell);
  if (numeric.test(type) && /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text)) return text;
  if (type === 'boolean') return text.toLowerCase();
  return JSON.stringify(text);
}

export function toJson(columns: Column[], rows: Cell[][]): string {
  return `[\n${rows.map((row) => `  {${columns.map((column, i) => `${JSON.stringify(column.name)}: ${jsonOf(row[i], column.type)}`).join(', ')}}`).join(',\n')}\n]\n`;
}

// As RFC 4180 has it. Nulls are empty, empty texts are "".
export function toCsv(columns: Column[], rows: Cell[][]): string {
  const quote = (text: string) => (text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = [columns.map((column) => quote(column.name)), ...rows.map((row) => row.map((cell) => (cell === null ? '' : quote(textOf(cell)))))];
  return lines.map((line) => line.join(',')).join('\r\n') + '\r\n';
}

function Value({ cell }: { cell: Cell }) {
  if (cell === null) return <span class="null">null</span>;
  const text = textOf(cell);
  if (text === '') return <span class="null">empty</span>;
  const shown = text.length > 300 ? `${text.slice(0, 300)}…` : text;
  return (
    <>
      <bdi>{shown}</bdi>
      {typeof cell !== 'string' && cell.bytes !== undefined && <span class="null"> {bytes(cell.bytes)}</span>}
    </>
  );
}

export function Grid({ columns, rows, label }: { columns: Column[]; rows: Cell[][]; label: string }) {
  const [open, setOpen] = useState<[number, number] | null>(null);
  const [limit, setLimit] = useState(maxCells);
  const [shownColumns, setShownColumns] = useState(maxColumns);
  const visible = columns.slice(0, shownColumns);
  const shownRows = rows.slice(0, Math.max(10, Math.floor(limit / Math.max(1, visible.length))));
  return (
    <>
      {visible.length < columns.length && (
        <p class="pad muted">
          The first {visible.length} of {count(columns.length)} columns.{' '}
          <button type="button" class="link" onClick={() => setShownColumns((n) => n + maxColumns)}>
            Show more
          </button>
        </p>
      )}
      <div class="scroll grid-scroll" role="region" aria-label={label} tabIndex={0}>
        <table class="grid">
          <thead>
            <tr>
              {visible.map((column, i) => (
                <th key={i} scope="col" class={numeric.test(column.type) ? 'number' : ''}>
                  <bdi>{column.name}</bdi>
                  <span class="type">{column.type}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shownRows.map((row, i) => (
              <tr key={i}>
                {visible.map((column, j) => (
                  <td key={j} class={numeric.test(column.type) ? 'number' : ''} onDblClick={() => setOpen([i, j])} title={row[j] !== null && textOf(row[j]).length > 40 ? 'Double-click shows the whole value' : undefined}>
                    <Value cell={row[j]} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {shownRows.length < rows.length && (
        <p class="pad">
          <button type="button" class="button" onClick={() => setLimit((n) => n + maxCells)}>
            Show more of the {count(rows.length)} rows
          </button>
        </p>
      )}
      {open && (
        <Dialog title={`${columns[open[1]].name} · ${columns[open[1]].type}`} onClose={() => setOpen(null)} wide>
          <pre class="value" tabIndex={0}>{rows[open[0]][open[1]] === null ? 'null' : textOf(rows[open[0]][open[1]])}</pre>
          <CopyButton text={textOf(rows[open[0]][open[1]])} />
        </Dialog>
      )}
    </>
  );
}
