// A diagram of the advisor. As an image it runs no scripts and loads nothing, whatever names it shows.
export function Diagram({ svg, label }: { svg: string; label: string }) {
  const source = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  return (
    <div class="diagram" tabIndex={0} role="region" aria-label={label}>
      <img src={source} alt={label} />
    </div>
  );
}
