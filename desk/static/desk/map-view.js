// The picture: a bitmap from the worker, moved and stretched while a person drags; above it what is pointed at, and names.
import { quadtree, select, zoom, zoomIdentity } from "./vendor/d3.js";

const MARGIN = 0.2; // of the width and height, drawn beyond each side, so that a drag finds something there
const MOST_PIXELS = 5_000_000; // of a bitmap: 80 MB while it is drawn
const STILL = 70; // ms without movement, after which the bitmap is drawn anew
const CLOSE = 14; // CSS pixels around the pointer in which a page is found
const AREA_A_NAME = 18_000; // square CSS pixels
const LONGEST = 34; // characters of a name

const still = matchMedia("(prefers-reduced-motion: reduce)");

export class View {
  constructor(canvas, worker, changed) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
    this.worker = new Worker(worker);
    this.worker.onmessage = ({ data }) => this.receive(data);
    this.changed = changed; // told when the view has moved by hand
    this.graph = null;
    this.bitmap = null; // and `sheet`: of which transform and size it is
    this.busy = false;
    this.pointed = -1;
    this.found = null; // pages that a search has found: a Set
    this.dim = 0;
    this.inset = [0, 0];
    this.widths = new Map();
    this.at = zoomIdentity;
    this.zoom = zoom()
      .scaleExtent([0.4, 80])
      .on("zoom", (event) => this.moved(event));
    select(canvas).call(this.zoom);
    new ResizeObserver(() => this.resize()).observe(canvas);
    this.resize();
  }

  // --- what is shown ---

  show(graph) {
    this.graph = graph;
    this.pointed = -1;
    const { x, y, weight, a, b } = graph;
    this.worker.postMessage({ graph: { x, y, weight, a, b, order: graph.byTies.slice().reverse() } });
  }

  // `colors`: "#rrggbb" a page; `shown`: 0 or 1 a page; `ink`: { paper, text, soft, strong }.
  dress(colors, shown, ink) {
    this.colors = colors;
    this.shown = shown;
    this.ink = ink;
    const bytes = new Uint8Array(colors.length * 3);
    const parsed = new Map();
    const rgb = (color) => {
      if (!parsed.has(color)) parsed.set(color, [1, 3, 5].map((from) => parseInt(color.slice(from, from + 2), 16)));
      return parsed.get(color);
    };
    colors.forEach((color, page) => bytes.set(rgb(color), page * 3));
    this.worker.postMessage({ look: { color: bytes, shown, paper: rgb(ink.paper) } });
    const visible = Array.from({ length: this.graph.count }, (_, page) => page).filter((page) => shown[page]);
    this.tree = quadtree(visible, (page) => this.graph.x[page], (page) => this.graph.y[page]);
    this.stale = true;
    this.ask();
    this.frame();
  }

  point(page) {
    if (page === this.pointed) return;
    this.pointed = page;
    this.frame();
  }

  find(pages) {
    this.found = pages;
    this.frame();
  }

  // --- where it is looked at ---

  // `over`: the element that lies over the picture, above it or at its left.
  beside(over) {
    const wide = over.offsetWidth < this.canvas.clientWidth / 2;
    this.inset = wide ? [over.offsetLeft + over.offsetWidth, 0] : [0, over.offsetTop + over.offsetHeight];
    this.resize();
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!width || !height) return;
    const ratio = Math.min(devicePixelRatio || 1, 2);
    Object.assign(this, { width, height, ratio });
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.zoom.extent([[0, 0], [width, height]]);
    this.stale = true;
    this.ask();
    this.paint();
  }

  // What lies over the picture's left and top leaves so much room; the map is put into it.
  get middle() {
    return [(this.width + this.inset[0]) / 2, (this.height + this.inset[1]) / 2];
  }

  get unit() {
    const { wide = 1, high = 1 } = this.graph ?? {};
    return Math.min(((this.width - this.inset[0]) * 0.46) / wide, ((this.height - this.inset[1]) * 0.46) / high);
  }

  // The side of the square that each page would have for itself, in CSS pixels.
  get room() {
    return Math.sqrt((Math.PI * this.unit ** 2) / (this.graph.count || 1));
  }

  screen(page) {
    const { x, y, k } = this.at;
    const [right, down] = this.middle;
    return [(this.graph.x[page] * this.unit + right) * k + x, (this.graph.y[page] * this.unit + down) * k + y];
  }

  // What a page of weight 1 has as its radius, in CSS pixels: a part of the room that each has, growing as one comes near.
  get size() {
    return Math.min(6, Math.max(0.9, this.room * 0.16)) * Math.min(5, Math.sqrt(this.at.k));
  }

  go(transform) {
    const canvas = select(this.canvas);
    if (still.matches) canvas.call(this.zoom.transform, transform);
    else canvas.transition().duration(450).call(this.zoom.transform, transform);
  }

  fit() {
    this.go(zoomIdentity);
  }

  by(factor) {
    select(this.canvas).call(this.zoom.scaleBy, factor, this.middle);
  }

  pan(right, down) {
    const { k } = this.at;
    select(this.canvas).call(this.zoom.translateBy, -right / k, -down / k);
  }

  // Go to a page, near enough to tell it from the others.
  to(page) {
    const k = Math.max(this.at.k, 1.6, this.graph.count ** 0.18);
    const [right, down] = this.middle;
    const x = this.graph.x[page] * this.unit + right;
    const y = this.graph.y[page] * this.unit + down;
    this.go(zoomIdentity.translate(right - x * k, down - y * k).scale(k));
  }

  // The page shown nearest to a point of the canvas; -1 where none is within `reach` CSS pixels.
  near(px, py, reach = CLOSE) {
    if (!this.tree) return -1;
    const { x, y, k } = this.at;
    const scale = this.unit * k;
    const [right, down] = this.middle;
    const page = this.tree.find((px - x - right * k) / scale, (py - y - down * k) / scale, reach / scale);
    return page ?? -1;
  }

  moved(event) {
    this.at = event.transform;
    this.stale = true;
    clearTimeout(this.rest);
    this.rest = setTimeout(() => this.ask(), STILL);
    if (!this.covered()) this.ask();
    this.frame();
    if (event.sourceEvent) this.changed();
  }

  // --- the bitmap ---

  // Where the bitmap lies as one looks now: its left and top in CSS pixels, and how much it is stretched.
  lies() {
    const { at, margin, middle, unit } = this.sheet;
    const stretch = (this.unit * this.at.k) / (unit * at.k);
    const [left, top] = ["x", "y"].map((axis, side) => {
      const origin = margin[side] + middle[side] * at.k + at[axis]; // of the map, in the bitmap
      return this.middle[side] * this.at.k + this.at[axis] - origin * stretch;
    });
    return { stretch, left, top };
  }

  covered() {
    if (!this.bitmap) return false;
    const { stretch, left, top } = this.lies();
    if (stretch > 1.8 || stretch < 0.7) return false;
    const { wide, high } = this.sheet;
    return left <= 0 && top <= 0 && left + wide * stretch >= this.width && top + high * stretch >= this.height;
  }

  ask() {
    if (!this.graph || !this.colors || !this.width || this.busy || !this.stale) return;
    this.busy = true;
    this.stale = false;
    const margin = [Math.round(this.width * MARGIN), Math.round(this.height * MARGIN)];
    const size = [this.width + 2 * margin[0], this.height + 2 * margin[1]];
    const ratio = Math.min(this.ratio, Math.sqrt(MOST_PIXELS / (size[0] * size[1])));
    const { x, y, k } = this.at;
    this.worker.postMessage({
      sheet: {
        at: { x, y, k },
        margin,
        middle: this.middle,
        unit: this.unit,
        wide: size[0],
        high: size[1],
        ratio,
        width: Math.round(size[0] * ratio),
        height: Math.round(size[1] * ratio),
        scale: this.unit * k * ratio,
        left: (this.middle[0] * k + x + margin[0]) * ratio,
        top: (this.middle[1] * k + y + margin[1]) * ratio,
        size: this.size * ratio,
        long: Math.max(90, 5 * this.room) * Math.sqrt(k),
        bold: Math.min(0.6, Math.max(0.09, 9 / Math.sqrt(this.graph.a.length || 1)) * Math.sqrt(k)),
      },
    });
  }

  receive({ sheet, bitmap }) {
    this.bitmap?.close();
    Object.assign(this, { bitmap, sheet, busy: false });
    this.canvas.dataset.drawn = "";
    this.paint();
    if (this.stale && !this.covered()) this.ask();
    else if (this.stale) {
      clearTimeout(this.rest);
      this.rest = setTimeout(() => this.ask(), STILL);
    }
  }

  // --- a frame ---

  frame() {
    if (this.asked) return;
    this.asked = requestAnimationFrame(() => {
      this.asked = 0;
      this.paint();
    });
  }

  paint() {
    const { pen, width, height, ratio } = this;
    if (!width || !this.graph || !this.ink) return;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    const wanted = this.pointed >= 0 || this.found ? 1 : 0;
    const step = still.matches ? 1 : 0.25;
    this.dim += Math.sign(wanted - this.dim) * Math.min(step, Math.abs(wanted - this.dim));
    if (this.bitmap) {
      const { stretch, left, top } = this.lies();
      pen.globalAlpha = 1 - 0.75 * this.dim;
      pen.drawImage(this.bitmap, left, top, this.sheet.wide * stretch, this.sheet.high * stretch);
      pen.globalAlpha = 1;
    }
    const first = this.emphasis();
    this.names(first);
    if (this.dim !== wanted) this.frame();
  }

  // What is pointed at or found, above the rest. Returns the pages whose names go first.
  emphasis() {
    if (this.pointed >= 0) {
      const others = [...this.graph.others(this.pointed)].filter((page) => this.shown[page]);
      this.strokes(this.pointed, others);
      for (const page of others) this.disc(page);
      this.disc(this.pointed, true);
      return [this.pointed, ...others.sort((one, other) => this.graph.degree[other] - this.graph.degree[one])];
    }
    if (this.found) {
      for (const page of this.found) if (this.shown[page]) this.disc(page);
      return [...this.found];
    }
    return null;
  }

  strokes(page, others) {
    const { pen } = this;
    const [x, y] = this.screen(page);
    pen.strokeStyle = this.colors[page];
    pen.globalAlpha = Math.max(0.25, Math.min(0.8, 12 / Math.sqrt(others.length || 1) / 4));
    pen.lineWidth = 1.2;
    pen.beginPath();
    for (const other of others) {
      pen.moveTo(x, y);
      pen.lineTo(...this.screen(other));
    }
    pen.stroke();
    pen.globalAlpha = 1;
  }

  disc(page, ringed = false) {
    const { pen } = this;
    const [x, y] = this.screen(page);
    const radius = Math.max(2.5, this.size * this.graph.weight[page]);
    if (x < -radius || y < -radius || x > this.width + radius || y > this.height + radius) return;
    pen.fillStyle = this.colors[page];
    pen.beginPath();
    pen.arc(x, y, radius, 0, 2 * Math.PI);
    pen.fill();
    pen.lineWidth = ringed ? 2.5 : 1;
    pen.strokeStyle = ringed ? this.ink.text : this.ink.paper;
    pen.stroke();
  }

  // Names, the most tied pages first, each where no other stands yet.
  names(first) {
    const { pen, width, height } = this;
    const most = Math.min(150, Math.round((width * height) / AREA_A_NAME));
    const taken = [];
    let left = most;
    pen.textAlign = "center";
    pen.textBaseline = "top";
    pen.lineJoin = "round";
    for (const page of first ?? this.graph.byTies) {
      if (!left) break;
      if (!this.shown[page]) continue;
      const [x, y] = this.screen(page);
      if (x < 0 || y < 0 || x > width || y > height) continue;
      const radius = this.size * this.graph.weight[page];
      const big = page === this.pointed;
      const height_ = big ? 15 : Math.round(Math.min(15, 10.5 + radius / 3));
      const name = this.name(page);
      const half = this.breadth(name, height_, big) / 2 + 3;
      const box = [x - half, y + radius + 2, x + half, y + radius + 4 + height_];
      if (!big && taken.some((other) => box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1])) continue;
      taken.push(box);
      left -= 1;
      pen.font = this.font(height_, big);
      pen.lineWidth = 3.5;
      pen.strokeStyle = this.ink.paper;
      pen.strokeText(name, x, box[1] + 1);
      pen.fillStyle = this.ink.text;
      pen.fillText(name, x, box[1] + 1);
    }
  }

  name(page) {
    const title = this.graph.titles[page];
    return title.length > LONGEST ? `${title.slice(0, LONGEST - 1).trimEnd()}…` : title;
  }

  font(height, bold) {
    return `${bold ? 600 : 500} ${height}px ${this.ink.font}`;
  }

  breadth(name, height, bold) {
    const key = `${height}${bold}${name}`;
    if (!this.widths.has(key)) {
      if (this.widths.size > 5_000) this.widths.clear();
      this.pen.font = this.font(height, bold);
      this.widths.set(key, this.pen.measureText(name).width);
    }
    return this.widths.get(key);
  }
}
