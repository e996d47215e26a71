"""Line plots with two logarithmic axes, as SVG text."""
import math

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 440, 70, 190, 20, 50
COLOURS = ("#1b6ca8", "#2a9d5c", "#8a4fbf", "#0f9aa7", "#c0392b", "#d98200", "#7f5539", "#b5179e", "#555555", "#3a3a98")


def ticks(low, high):
    """1, 2 and 5 times powers of ten within the range."""
    return [m * 10.0 ** e for e in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
            for m in (1, 2, 5) if low <= m * 10.0 ** e * 1.0001 and m * 10.0 ** e <= high * 1.0001]


def log_log(series, x_label, y_label):
    """series maps names to lists of (x, y), all above zero. Ours, named "georag: …", are drawn thick."""
    xs = [x for points in series.values() for x, _ in points]
    ys = [y for points in series.values() for _, y in points]

    def place(value, values, start, end):
        low, high = math.log(min(values)), math.log(max(values))
        return start + (math.log(value) - low) / max(high - low, 1e-9) * (end - start)

    def at(x, y):
        return place(x, xs, LEFT, WIDTH - RIGHT), place(y, ys, HEIGHT - BOTTOM, TOP)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for x in sorted(set(xs)):
        px, _ = at(x, ys[0])
        parts.append(f'<path d="M{px:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#e4e4e4"/>'
                     f'<text x="{px:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{x:g}</text>')
    for y in ticks(min(ys), max(ys)):
        _, py = at(xs[0], y)
        parts.append(f'<path d="M{LEFT} {py:.1f}H{WIDTH - RIGHT}" stroke="#e4e4e4"/>'
                     f'<text x="{LEFT - 6}" y="{py + 4:.1f}" text-anchor="end">{y:g}</text>')
    ends = sorted((at(*points[-1])[1], name) for name, points in series.items())
    label_y, spaced = -math.inf, {}
    for py, name in ends:
        label_y = max(py, label_y + 15)
        spaced[name] = label_y
    for colour, (name, points) in zip(COLOURS, series.items()):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(*point) for point in points))
        width = 3 if name.startswith("georag: ") else 1.5
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"/>'
                     f'<text x="{WIDTH - RIGHT + 8}" y="{spaced[name] + 4:.1f}" fill="{colour}">{name}</text>')
    parts.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle">{x_label}</text>'
                 f'<text transform="translate(16 {HEIGHT / 2}) rotate(-90)" text-anchor="middle">{y_label}</text></svg>')
    return "\n".join(parts) + "\n"
