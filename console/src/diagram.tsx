import { download } from './ui';

// A diagram of the advisor. As an image it runs no scripts and loads nothing, whatever names it shows.
export function Diagram({ svg, label }: { svg: string; label: string }) {
  const source = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  return (
    <>
      <div class="diagram-actions">
        <button type="button" class="button button-quiet" onClick={() => download('diagram.svg', 'image/svg+xml', svg)}>
          Save SVG
        </button>
      </div>
      <div class="diagram" tabIndex={0} role="region" aria-label={label}>
        <img src={source} alt={label} />
      </div>
    </>
  );
}
