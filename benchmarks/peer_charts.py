"""Charts of benchmarks/peers as SVG, for light and dark pages, without libraries."""
import html
import math

COLOURS = ["#2f6fde", "#d9822b", "#b83280"]
STYLE = ("<style>text{font:12px system-ui,sans-serif;fill:#24292f}.t{font-weight:600;font-size:14px}.g{stroke:#8884}"
         "@media (prefers-color-scheme:dark){text{fill:#d0d7de}}</style>")


def short(value):
    if value >= 1e6:
        return f"{value / 1e6:.3g} M"
    return f"{value / 1e3:.3g}k" if value >= 1e4 else f"{value:.3g}"


def decades(values):
    """Powers of ten that enclose the values."""
    return math.floor(math.log10(min(values))), math.ceil(math.log10(max(values) * 1.0001))


def head(width, height, title, servers, titles):
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
             f'aria-label="{html.escape(title)}">', STYLE, f'<text class="t" x="8" y="20">{html.escape(title)}</text>']
    for i, server in enumerate(servers):
        x = 8 + 110 * i
        parts.append(f'<rect x="{x}" y="30" width="12" height="12" fill="{COLOURS[i]}"/>'
                     f'<text x="{x + 18}" y="40">{html.escape(titles[server])}</text>')
    return parts


def bars(title, names, values, titles):
    """Horizontal bars on a logarithmic axis: one group per name, one bar per server. None: no bar."""
    present = [value for series in values.values() for value in series if value]
    first, last = decades(present)
    left, width, bar, top = 130, 760, 14, 56
    group = bar * len(values) + 10
    height = top + group * len(names) + 24

    def x_of(value):
        return left + (width - left - 70) * (math.log10(value) - first) / max(last - first, 1)
    parts = head(width, height, title, values, titles)
    for power in range(first, last + 1):
        x = x_of(10**power)
        parts.append(f'<line class="g" x1="{x:.1f}" x2="{x:.1f}" y1="{top - 4}" y2="{height - 20}"/>'
                     f'<text x="{x:.1f}" y="{height - 6}" text-anchor="middle">{short(10**power)}</text>')
    for i, name in enumerate(names):
        y = top + group * i
        parts.append(f'<text x="{left - 8}" y="{y + bar * len(values) / 2 + 4:.0f}" text-anchor="end">{html.escape(name)}</text>')
        for k, series in enumerate(values.values()):
            if not series[i]:
                continue
            end = max(x_of(series[i]), left + 1)
            parts.append(f'<rect x="{left}" y="{y + bar * k}" width="{end - left:.1f}" height="{bar - 2}" fill="{COLOURS[k]}"/>'
                         f'<text x="{end + 4:.1f}" y="{y + bar * k + bar - 4}">{short(series[i])}</text>')
    return "\n".join(parts + ["</svg>", ""])


def lines(title, xs, values, titles, x_title):
    """One line per server; both axes are logarithmic. None: no point."""
    present = [value for series in values.values() for value in series if value]
    first, last = decades(present)
    left, right, top, bottom, width, height = 56, 40, 60, 40, 560, 320

    def y_of(value):
        return height - bottom - (height - top - bottom) * (math.log10(value) - first) / max(last - first, 1)

    def x_of(value):
        low, high = math.log10(xs[0]), math.log10(xs[-1])
        return left + (width - left - right) * (math.log10(value) - low) / ((high - low) or 1)
    parts = head(width, height, title, values, titles)
    for power in range(first, last + 1):
        y = y_of(10**power)
        parts.append(f'<line class="g" x1="{left}" x2="{width - right}" y1="{y:.1f}" y2="{y:.1f}"/>'
                     f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{short(10**power)}</text>')
    for x in xs:
        parts.append(f'<text x="{x_of(x):.1f}" y="{height - 22}" text-anchor="middle">{x:g}</text>')
    parts.append(f'<text x="{(left + width - right) / 2:.0f}" y="{height - 6}" text-anchor="middle">{html.escape(x_title)}</text>')
    for k, series in enumerate(values.values()):
        points = [(x_of(x), y_of(value), value) for x, value in zip(xs, series) if value]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[k]}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{COLOURS[k]}"/>'
                  f'<text x="{x:.1f}" y="{y - 7:.1f}" text-anchor="middle">{short(value)}</text>' for x, y, value in points]
    return "\n".join(parts + ["</svg>", ""])
