// The page's frame: session, navigation, keyboard, and which page is shown.
import { render } from 'preact';
import type { ComponentType } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, isReachable, loadSession, logIn, logOut, setSession, watchReachable, whenLoggedOut, type Session } from './api';
import { Overview } from './overview';
import { go, useRoute, type Route } from './router';
import { applyTheme, setTheme, theme, type Theme } from './theme';
import { Dialog, Empty, ErrorBox, Icon, Loading } from './ui';

export interface PageProps {
  route: Route;
  session: Session;
}

// Pages other than the first are loaded when they are first shown.
const loaders: Record<string, () => Promise<ComponentType<PageProps>>> = {
  schema: () => import('./schema').then((module) => module.Schema),
  table: () => import('./table').then((module) => module.TablePage),
  query: () => import('./query').then((module) => module.QueryPage),
  advisor: () => import('./advisor').then((module) => module.AdvisorPage),
  activity: () => import('./activity').then((module) => module.ActivityPage),
  settings: () => import('./activity').then((module) => module.SettingsPage),
  cluster: () => import('./cluster').then((module) => module.ClusterPage),
};
type Entry = [page: string, title: string, key: string];
const pages: Entry[] = [
  ['overview', 'Overview', 'o'],
  ['schema', 'Schema', 's'],
  ['query', 'Query', 'q'],
  ['advisor', 'Advisor', 'a'],
  ['activity', 'Activity', 'c'],
  ['cluster', 'Cluster', 'r'],
  ['settings', 'Settings', 't'],
];
const entriesOf = (session: Session | null) => pages.filter(([page]) => page !== 'cluster' || session?.cluster);

function Login({ onDone }: { onDone: (session: Session) => void }) {
  const [error, setError] = useState<Error | null>(null);
  const [busy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.target as HTMLFormElement);
    setBusy(true);
    try {
      onDone(await logIn(String(form.get('role')), String(form.get('password'))));
    } catch (problem) {
      setError(problem as Error);
      setBusy(false);
    }
  };
  return (
    <main class="login">
      <form class="card" onSubmit={submit}>
        <h1>
          <Logo /> Log in
        </h1>
        <p class="muted">Use a role of this server. You may do here what the role may do in CQL.</p>
        <label>
          Role
          <input name="role" autocomplete="username" autofocus required />
        </label>
        <label>
          Password
          <input name="password" type="password" autocomplete="current-password" />
        </label>
        {error && <ErrorBox error={error} />}
        <button class="button button-primary" disabled={busy}>
          {busy ? 'Logging in…' : 'Log in'}
        </button>
      </form>
    </main>
  );
}

const Logo = () => (
  <svg class="logo" viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
    <rect width="32" height="32" rx="8" fill="var(--accent-solid)" />
    <path d="M6 16c3-5 6.500-7 10-7s7 2 10 7c-3 5-6.500 7-10 7s-7-2-10-7z" fill="none" stroke="#fff" stroke-width="2.200" />
    <circle cx="16" cy="16" r="3.600" fill="#fff" />
  </svg>
);

function ThemeButton() {
  const [chosen, setChosen] = useState<Theme>(theme());
  const next: Record<Theme, Theme> = { auto: 'light', light: 'dark', dark: 'auto' };
  const change = () => {
    setTheme(next[chosen]);
    setChosen(next[chosen]);
  };
  return (
    <button type="button" class="button button-quiet" onClick={change} title={`Colours: ${chosen}`} aria-label={`Colours: ${chosen}. Change to ${next[chosen]}`}>
      <Icon name={chosen === 'auto' ? 'auto' : chosen === 'light' ? 'sun' : 'moon'} />
    </button>
  );
}

// g and a letter goes to a page, ? shows the keys. Not while something is being typed.
function useKeys(entries: Entry[], showHelp: () => void) {
  const current = useRef(entries);
  current.current = entries;
  useEffect(() => {
    let prefix = 0;
    const onKey = (event: KeyboardEvent) => {
      const target = event.composedPath()[0] as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey || target.closest?.('input, textarea, select, [contenteditable=true]')) return;
      if (event.key === '?') return showHelp();
      if (event.key === '/') {
        const search = document.querySelector<HTMLInputElement>('input[type=search]');
        if (search) {
          event.preventDefault();
          search.focus();
        }
        return;
      }
      if (event.key === 'g') {
        prefix = Date.now();
        return;
      }
      const entry = Date.now() - prefix < 1500 && current.current.find(([, , key]) => key === event.key);
      prefix = 0;
      if (!entry) return;
      go([entry[0]]);
      document.getElementById('main')?.focus(); // so that Tab goes to the parts of the page
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

function Help({ entries, onClose }: { entries: Entry[]; onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl class="keys">
        {entries.map(([, title, key]) => (
          <>
            <dt>
              <kbd>g</kbd> <kbd>{key}</kbd>
            </dt>
            <dd>{title}</dd>
          </>
        ))}
        <dt>
          <kbd>/</kbd>
        </dt>
        <dd>Search</dd>
        <dt>
          <kbd>Ctrl</kbd> <kbd>Enter</kbd>
        </dt>
        <dd>Run the statement at the cursor, or the selection</dd>
        <dt>
          <kbd>Ctrl</kbd> <kbd>Shift</kbd> <kbd>Enter</kbd>
        </dt>
        <dd>Run all statements</dd>
        <dt>
          <kbd>Ctrl</kbd> <kbd>Space</kbd>
        </dt>
        <dd>Complete</dd>
      </dl>
    </Dialog>
  );
}

function Page({ page, ...props }: PageProps & { page: string }) {
  const [Shown, setShown] = useState<{ page: string; component: ComponentType<PageProps> } | null>(null);
  const [error, setError] = useState<Error | null>(null);
  useEffect(() => {
    let current = true;
    setError(null);
    if (loaders[page])
      loaders[page]().then(
        (component) => current && setShown({ page, component }),
        () => current && setError(new Error('This page could not be loaded')),
      );
    return () => void (current = false);
  }, [page]);
  if (page === 'overview') return <Overview />;
  if (!loaders[page])
    return (
      <Empty title={`There is no page ${page}`}>
        <p>
          <a href="#/overview">Go to the overview</a>
        </p>
      </Empty>
    );
  if (error)
    return (
      <ErrorBox error={error}>
        <button type="button" class="button" onClick={() => location.reload()}>
          Reload
        </button>
      </ErrorBox>
    );
  if (Shown?.page !== page) return <Loading />;
  return <Shown.component {...props} />;
}

const firstSession = loadSession(); // while the page is being set up

function App() {
  const route = useRoute();
  const [session, setCurrent] = useState<Session | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const [help, setHelp] = useState(false);
  const entries = entriesOf(session);
  useKeys(entries, () => setHelp(true));
  const begin = (next: Session) => {
    setError(null);
    setSession(next);
    setCurrent(next);
  };
  const reload = () => loadSession().then(begin, setError);
  const [isAway, setAway] = useState(false);
  // After a restart the session may have ended, and another version has other files.
  const meet = async () => {
    setAway(!isReachable());
    if (!isReachable()) return;
    const next = await loadSession().catch(() => null);
    if (next && session && next.version !== session.version) return location.reload();
    if (next) begin(next);
  };
  const current = useRef(meet);
  current.current = meet;
  useEffect(() => {
    whenLoggedOut(() => void reload());
    void firstSession.then(begin, setError);
    return watchReachable(() => void current.current());
  }, []);
  const place = route.parts.join('/');
  useEffect(() => scrollTo(0, 0), [place]);
  if (error) return <ErrorBox error={error instanceof ApiError ? error : new Error('The server does not answer')} />;
  if (!session) return <Loading />;
  if (session.login_required && !session.role) return <Login onDone={begin} />;
  const page = route.parts[0] || 'overview';
  const section = page === 'table' ? 'schema' : page;
  return (
    <div class="frame">
      <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), document.getElementById('main')?.focus())}>
        Skip to the content
      </a>
      <nav class="side" aria-label="Pages">
        <a class="brand" href="#/overview">
          <Logo /> <span>Sibyl</span>
        </a>
        <ul>
          {entries.map(([id, title]) => (
            <li key={id}>
              <a href={`#/${id}`} aria-current={section === id ? 'page' : undefined}>
                <Icon name={id} /> <span>{title}</span>
              </a>
            </li>
          ))}
        </ul>
        <div class="side-foot">
          {session.read_only && <span class="badge badge-warning">read-only</span>}
          {session.role && (
            <div class="role">
              <span title={session.role}>{session.role}</span>
              <button type="button" class="button button-quiet" aria-label="Log out" title="Log out" onClick={() => logOut().then(begin)}>
                <Icon name="logout" />
              </button>
            </div>
          )}
          <div class="role">
            <span class="version">{session.version}</span>
            <span>
              <button type="button" class="button button-quiet" aria-label="Keys" title="Keys" onClick={() => setHelp(true)}>
                ?
              </button>
              <ThemeButton />
            </span>
          </div>
        </div>
      </nav>
      <main id="main" tabIndex={-1} class={`page-${page}`}>
        {isAway && (
          <div class="notice notice-warning away" role="alert">
            <Icon name="warning" /> The server does not answer. Waiting for it…
          </div>
        )}
        <Page page={page} route={route} session={session} />
      </main>
      {help && <Help entries={entries} onClose={() => setHelp(false)} />}
    </div>
  );
}

applyTheme();
render(<App />, document.getElementById('app')!);
