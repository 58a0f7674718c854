// The theme: light, dark, or that of the system.
import { useEffect, useState } from 'preact/hooks';
import { keep, kept } from './storage';

export type Theme = 'auto' | 'light' | 'dark';
const key = 'sibyl-theme';
const listeners = new Set<() => void>();

export const theme = () => (kept(key) as Theme) || 'auto';

export function applyTheme() {
  const chosen = theme();
  const dark = chosen === 'dark' || (chosen === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  listeners.forEach((listener) => listener());
}

export function setTheme(chosen: Theme) {
  keep(key, chosen);
  applyTheme();
}

// "light" or "dark"; the component renders again when it changes.
export function useShownTheme(): string {
  const [, render] = useState(0);
  useEffect(() => {
    const update = () => render((n) => n + 1);
    listeners.add(update);
    return () => void listeners.delete(update);
  }, []);
  return document.documentElement.dataset.theme ?? 'light';
}

export const colour = (variable: string) => getComputedStyle(document.documentElement).getPropertyValue(variable).trim();

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', applyTheme);
