// Statements that were run before, kept in this browser.
import { forget, keep, kept } from './storage';
import { Dialog } from './ui';

const key = 'sibyl-history';
const maxStatements = 100;
const maxLength = 20_000; // of one statement; longer ones are not kept

const readHistory = (): string[] => {
  try {
    return JSON.parse(kept(key) ?? '[]');
  } catch {
    return [];
  }
};

export function remember(text: string) {
  if (text.length > maxLength) return;
  const all = [text, ...readHistory().filter((one) => one !== text)].slice(0, maxStatements);
  keep(key, JSON.stringify(all));
}

export function History({ onPick, onClose }: { onPick: (text: string) => void; onClose: () => void }) {
  const all = readHistory();
  return (
    <Dialog title="History" onClose={onClose} wide>
      {all.length === 0 ? (
        <p class="muted">Statements that you run are kept here, in this browser only.</p>
      ) : (
        <>
          <ul class="history">
            {all.map((one, i) => (
              <li key={i}>
                <button type="button" class="mono" onClick={() => onPick(one)}>
                  {one.length > 400 ? `${one.slice(0, 400)}…` : one}
                </button>
              </li>
            ))}
          </ul>
          <button type="button" class="button button-quiet" onClick={() => (forget(key), onClose())}>
            Clear
          </button>
        </>
      )}
    </Dialog>
  );
}
