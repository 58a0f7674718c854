// The page that is shown is in the address after '#': #/table/shop/orders?tab=data.
import { useEffect, useState } from 'preact/hooks';

export interface Route {
  parts: string[];
  parameters: URLSearchParams;
}

function parse(): Route {
  const [path, query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  return { parts: path.split('/').map(decodeURIComponent), parameters: new URLSearchParams(query) };
}

export function useRoute(): Route {
  const [route, setRoute] = useState(parse);
  useEffect(() => {
    const update = () => setRoute(parse());
    addEventListener('hashchange', update);
    return () => removeEventListener('hashchange', update);
  }, []);
  return route;
}

export function link(parts: string[], parameters: Record<string, string> = {}): string {
  const query = new URLSearchParams(parameters).toString();
  return `#/${parts.map(encodeURIComponent).join('/')}${query ? `?${query}` : ''}`;
}

export const go = (...to: Parameters<typeof link>) => {
  location.hash = link(...to);
};
