// Preferences and texts that the browser keeps for this address.

export const kept = (key: string): string | null => {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
};

// What does not fit, or may not be kept, is not kept. Nothing depends on it.
export function keep(key: string, value: string) {
  try {
    localStorage.setItem(key, value);
  } catch {
    // The browser's storage is full or switched off.
  }
}

export function forget(key: string) {
  try {
    localStorage.removeItem(key);
  } catch {
    // As above.
  }
}
