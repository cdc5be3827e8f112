// Draws ties and pages of the map into a bitmap, beside the page's own thread, so that a drag never waits for it.
// Lines are drawn here and not by the canvas: without a graphics card it takes seconds for 60,000 of them. Source of the
// smoothing: Wu, "An efficient antialiasing technique", 1991; colours are premultiplied (Porter and Duff, 1984).
"use strict";

let graph = null; // x, y: -1 … 1; weight: of a page's radius; a, b: ends of ties; order: pages as they are drawn
let look = null; // color: 3 bytes a page; shown: 1 a page; paper: [r, g, b]
let ink = new Float32Array(0); // red, green, blue, cover of each pixel

const put = (at, red, green, blue, cover) => {
  const rest = 1 - cover;
  ink[at] = ink[at] * rest + red * cover;
  ink[at + 1] = ink[at + 1] * rest + green * cover;
  ink[at + 2] = ink[at + 2] * rest + blue * cover;
  ink[at + 3] = ink[at + 3] * rest + cover;
};

// The part of a line that lies on the sheet, as [from, to] of 0 … 1. Source: Liang and Barsky, 1984.
const clip = (x, y, dx, dy, width, height) => {
  let from = 0;
  let to = 1;
  for (const [step, room] of [[-dx, x], [dx, width - x], [-dy, y], [dy, height - y]]) {
    if (step === 0) {
      if (room < 0) return null;
    } else if (step < 0) from = Math.max(from, room / step);
    else to = Math.min(to, room / step);
  }
  return from < to ? [from, to] : null;
};

const line = (x0, y0, x1, y1, width, height, red, green, blue, cover) => {
  let dx = x1 - x0;
  let dy = y1 - y0;
  const part = clip(x0 - 1, y0 - 1, dx, dy, width - 3, height - 3);
  if (!part) return;
  x0 += dx * part[0];
  y0 += dy * part[0];
  dx *= part[1] - part[0];
  dy *= part[1] - part[0];
  const flat = Math.abs(dx) >= Math.abs(dy);
  const steps = Math.ceil(flat ? Math.abs(dx) : Math.abs(dy));
  if (!steps) return;
  const across = flat ? width * 4 : 4;
  const along = flat ? 4 : width * 4;
  dx /= steps;
  dy /= steps;
  for (let step = 0; step <= steps; step += 1) {
    const over = flat ? y0 : x0;
    const low = Math.floor(over);
    const share = over - low;
    const at = low * across + Math.floor(flat ? x0 : y0) * along;
    put(at, red, green, blue, cover * (1 - share));
    put(at + across, red, green, blue, cover * share);
    x0 += dx;
    y0 += dy;
  }
};

const disc = (x, y, radius, width, height, red, green, blue) => {
  const reach = radius + 1;
  const left = Math.max(0, Math.floor(x - reach));
  const right = Math.min(width - 1, Math.ceil(x + reach));
  const top = Math.max(0, Math.floor(y - reach));
  const bottom = Math.min(height - 1, Math.ceil(y + reach));
  for (let row = top; row <= bottom; row += 1) {
    for (let column = left; column <= right; column += 1) {
      const cover = radius + 0.5 - Math.hypot(column + 0.5 - x, row + 0.5 - y);
      if (cover > 0) put((row * width + column) * 4, red, green, blue, Math.min(1, cover));
    }
  }
};

const ties = (sheet) => {
  const { x, y, a, b } = graph;
  const { color, shown } = look;
  const { width, height, scale, left, top, ratio } = sheet;
  for (let tie = 0; tie < a.length; tie += 1) {
    const one = a[tie];
    const other = b[tie];
    if (!shown[one] || !shown[other]) continue;
    const x0 = x[one] * scale + left;
    const y0 = y[one] * scale + top;
    const x1 = x[other] * scale + left;
    const y1 = y[other] * scale + top;
    const length = Math.hypot(x1 - x0, y1 - y0) / ratio;
    const cover = sheet.bold * Math.min(1, sheet.long / length); // the longer, the fainter
    if (cover < 0.004) continue;
    const i = one * 3;
    const j = other * 3;
    const [red, green, blue] = [color[i] + color[j], color[i + 1] + color[j + 1], color[i + 2] + color[j + 2]];
    line(x0, y0, x1, y1, width, height, red / 2, green / 2, blue / 2, cover);
  }
};

const pages = (sheet) => {
  const { x, y, weight, order } = graph;
  const { color, shown, paper } = look;
  const { width, height, scale, left, top, ratio, size } = sheet;
  for (const page of order) {
    if (!shown[page]) continue;
    const radius = size * weight[page];
    const px = x[page] * scale + left;
    const py = y[page] * scale + top;
    if (px < -radius || py < -radius || px > width + radius || py > height + radius) continue;
    if (radius > 2 * ratio) disc(px, py, radius + 0.8 * ratio, width, height, ...paper);
    disc(px, py, radius, width, height, color[page * 3], color[page * 3 + 1], color[page * 3 + 2]);
  }
};

const drawn = (sheet) => {
  const { width, height } = sheet;
  if (ink.length === width * height * 4) ink.fill(0);
  else ink = new Float32Array(width * height * 4);
  ties(sheet);
  pages(sheet);
  const image = new ImageData(width, height);
  const bytes = image.data;
  for (let at = 0; at < ink.length; at += 4) {
    const cover = ink[at + 3];
    if (cover === 0) continue;
    bytes[at] = ink[at] / cover;
    bytes[at + 1] = ink[at + 1] / cover;
    bytes[at + 2] = ink[at + 2] / cover;
    bytes[at + 3] = cover * 255;
  }
  return createImageBitmap(image);
};

onmessage = async ({ data }) => {
  if (data.graph) graph = data.graph;
  if (data.look) look = data.look;
  if (!data.sheet) return;
  const bitmap = await drawn(data.sheet);
  postMessage({ sheet: data.sheet, bitmap }, [bitmap]);
};
