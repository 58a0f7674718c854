// The editor of the query page. It lives in a shadow root, where its styles need no exception from the page's
// Content-Security-Policy.
import { autocompletion, closeBrackets, closeBracketsKeymap, closeCompletion, completionKeymap, type CompletionSource } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { lintGutter, lintKeymap, setDiagnostics, type Diagnostic } from '@codemirror/lint';
import { EditorState, Prec } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers, placeholder } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'preact/hooks';
import { cql } from './cql';

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--code-keyword)', fontWeight: '600' },
  { tag: tags.string, color: 'var(--code-string)' },
  { tag: tags.number, color: 'var(--code-number)' },
  { tag: tags.comment, color: 'var(--muted)', fontStyle: 'italic' },
  { tag: tags.typeName, color: 'var(--code-type)' },
  { tag: tags.atom, color: 'var(--code-number)' },
]);

const look = EditorView.theme({
  '&': { fontSize: '13.5px', height: '100%', color: 'var(--text)' },
  '&.cm-focused': { outline: '2px solid var(--focus)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55' },
  '.cm-content': { caretColor: 'var(--text)', padding: '8px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--muted)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'var(--hover)' },
  '.cm-activeLineGutter': { backgroundColor: 'transparent', color: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': { background: 'var(--selection)' },
  '.cm-placeholder': { color: 'var(--muted)' },
  '.cm-tooltip': { backgroundColor: 'var(--raised)', color: 'var(--text)', border: '1px solid var(--line)', borderRadius: '8px', overflow: 'hidden', boxShadow: 'var(--shadow)' },
  '.cm-tooltip-autocomplete > ul > li': { padding: '3px 8px' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent-solid)', color: '#fff' },
  '.cm-completionDetail': { color: 'inherit', opacity: '0.75', fontStyle: 'normal' },
  '.cm-diagnostic': { padding: '6px 10px', borderLeftWidth: '3px', whiteSpace: 'pre-wrap', maxWidth: '560px' },
  '.cm-diagnosticAction': { backgroundColor: 'var(--accent-solid)', color: '#fff', borderRadius: '5px', padding: '2px 8px', margin: '6px 0 0' },
  '.cm-matchingBracket': { backgroundColor: 'var(--selection)', outline: 'none' },
});

export interface EditorHandle {
  text: () => string;
  selection: () => { from: number; to: number };
  replace: (text: string) => void;
  insert: (text: string) => void;
  check: () => void;
  focus: () => void;
}

interface Props {
  initial: string;
  onChange: (text: string) => void;
  onMove: (position: number) => void;
  onRun: (all: boolean) => void;
  completions: CompletionSource;
  diagnostics: () => Diagnostic[];
  handle: { current: EditorHandle | null };
  label: string;
}

export function Editor(props: Props) {
  const host = useRef<HTMLDivElement>(null);
  const current = useRef(props);
  current.current = props;
  useEffect(() => {
    const root = host.current!.attachShadow({ mode: 'open' });
    const run = (all: boolean) => (target: EditorView) => (closeCompletion(target), current.current.onRun(all), true);
    const view = new EditorView({
      root,
      state: EditorState.create({
        doc: props.initial,
        extensions: [
          Prec.highest(keymap.of([{ key: 'Mod-Enter', run: run(false) }, { key: 'Mod-Shift-Enter', run: run(true) }])),
          lineNumbers(),
          history(),
          drawSelection(),
          bracketMatching(),
          closeBrackets(),
          highlightActiveLine(),
          cql,
          syntaxHighlighting(colours),
          autocompletion({ override: [props.completions], icons: false }),
          lintGutter(),
          keymap.of([...closeBracketsKeymap, ...completionKeymap, ...lintKeymap, ...historyKeymap, ...defaultKeymap, indentWithTab]),
          placeholder('SELECT …'),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': props.label }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) current.current.onChange(update.state.doc.toString());
            if (update.selectionSet || update.docChanged) current.current.onMove(update.state.selection.main.head);
          }),
          look,
        ],
      }),
    });
    root.append(view.dom);
    props.handle.current = {
      text: () => view.state.doc.toString(),
      selection: () => view.state.selection.main,
      replace: (text) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text }, selection: { anchor: text.length } }),
      insert: (text) => view.dispatch(view.state.replaceSelection(text)),
      check: () => view.dispatch(setDiagnostics(view.state, current.current.diagnostics())),
      focus: () => view.focus(),
    };
    return () => {
      props.handle.current = null;
      view.destroy();
    };
  }, []);
  return <div ref={host} class="editor-host" />;
}
