// Compiles the page with esbuild and writes OUT/assets.cc, in which every file is compressed.
//
// Usage: node build.mjs OUT, where OUT/node_modules has the packages.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const maxBytes = 1.5 * 1024 * 1024;
const here = path.dirname(fileURLToPath(import.meta.url));
const out = path.resolve(process.argv[2]);
const require = createRequire(path.join(out, 'package.json'));
const esbuild = require('esbuild');

const types = { '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8', '.svg': 'image/svg+xml' };

async function compile() {
  const result = await esbuild.build({
    entryPoints: { main: path.join(here, 'src/main.tsx'), style: path.join(here, 'src/style.css') },
    outdir: path.join(out, 'page'),
    entryNames: '[name]-[hash]',
    chunkNames: 'chunk-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    target: ['es2021'],
    minify: true,
    legalComments: 'none',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    nodePaths: [path.join(out, 'node_modules')],
    write: false,
    metafile: true,
  });
  const files = result.outputFiles.map((file) => ({ name: path.basename(file.path), content: Buffer.from(file.contents) }));
  return { files, first: importsOf(result.metafile) };
}

// The files that the first page imports, directly or not. The browser would find them only one after another.
function importsOf({ outputs }) {
  const found = new Set();
  const add = (output) => {
    for (const { path: imported, kind } of outputs[output].imports)
      if (kind === 'import-statement' && !found.has(imported)) found.add(imported) && add(imported);
  };
  add(Object.keys(outputs).find((output) => /(^|\/)main-[^/]*\.js$/.test(output)));
  return [...found].map((output) => path.basename(output));
}

function collect({ files: compiled, first }) {
  const find = (start, end) => compiled.find((file) => file.name.startsWith(start) && file.name.endsWith(end)).name;
  const index = readFileSync(path.join(here, 'src/index.html'), 'utf8')
    .replace('{{style}}', `/assets/${find('style-', '.css')}`)
    .replace('{{script}}', `/assets/${find('main-', '.js')}`)
    .replace('{{imports}}', first.map((name) => `<link rel="modulepreload" href="/assets/${name}" />`).join(''));
  const files = [{ path: '/', type: 'text/html; charset=utf-8', content: Buffer.from(index) }];
  for (const name of ['icon.svg'])
    files.push({ path: `/${name}`, type: types[path.extname(name)], content: readFileSync(path.join(here, 'src', name)) });
  for (const file of compiled)
    files.push({ path: `/assets/${file.name}`, type: types[path.extname(file.name)], content: file.content });
  return files.map((file) => ({ ...file, gzip: gzipSync(file.content, { level: 9 }) }));
}

function toCpp(files) {
  const lines = ['#include "cli/console/assets.h"', '', 'namespace sibyl::cli::console {', 'namespace {', ''];
  files.forEach((file, i) => {
    lines.push(`constexpr unsigned char file_${i}[] = {`);
    for (let at = 0; at < file.gzip.length; at += 32) lines.push(`${[...file.gzip.subarray(at, at + 32)].join(',')},`);
    lines.push('};');
  });
  lines.push('', '}  // namespace', '', 'std::span<const Asset> assets() {', '  static const Asset all[] = {');
  files.forEach((file, i) => {
    const etag = createHash('sha256').update(file.content).digest('hex').slice(0, 16);
    lines.push(`      {"${file.path}", "${file.type}", "\\"${etag}\\"", {reinterpret_cast<const char*>(file_${i}), sizeof file_${i}}},`);
  });
  lines.push('  };', '  return all;', '}', '', '}  // namespace sibyl::cli::console', '');
  return lines.join('\n');
}

const files = collect(await compile());
const total = files.reduce((sum, file) => sum + file.gzip.length, 0);
if (total > maxBytes) {
  console.error(`console: the page has ${total} bytes compressed, more than ${maxBytes}`);
  process.exit(1);
}
mkdirSync(out, { recursive: true });
writeFileSync(path.join(out, 'assets.cc'), toCpp(files));
console.log(`console: ${files.length} files, ${Math.round(total / 1024)} KiB compressed`);
