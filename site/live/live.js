"use strict";
// Asks the engine (engine.cpp, as text in engine.js) and shows its answer.
const FIELDS = ["expression", "dtype", "vector", "lanes", "along", "at", "pad", "swizzle"];

class Refused extends Error {
  constructor(text, column) { super(text); this.column = column; }
}

const engineBytes = () => Uint8Array.from(atob(tesseraEngine), (c) => c.charCodeAt(0));

/// What the engine says of a request, an object with FIELDS. Throws Refused. Each request has an instance of its own: one that was
/// refused cannot go on.
function asking(module) {
  const bytes = (memory, at, size) => new Uint8Array(memory.buffer, at, size);
  return (request) => {
    let engine;
    const refused = (at, size, column) => {
      throw new Refused(new TextDecoder().decode(bytes(engine.memory, at, size)), column);
    };
    engine = new WebAssembly.Instance(module, {page: {refused}}).exports;
    engine._initialize();
    const text = new TextEncoder().encode(FIELDS.map((name) => String(request[name]).replaceAll("\n", " ")).join("\n"));
    bytes(engine.memory, engine.input(text.length), text.length).set(text);
    const at = engine.answer(), all = bytes(engine.memory, at, engine.memory.buffer.byteLength - at);
    return JSON.parse(new TextDecoder().decode(all.subarray(0, all.indexOf(0))));
  };
}

function counts(answer) {
  const plural = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
  const shared = ({wavefronts, ideal, ways, merged}) => plural(wavefronts, "wavefront") +
      (wavefronts > ideal ? `, ${ideal} without conflicts: ${ways}-way bank conflict` : ", no bank conflict") + (merged ? ", merged" : "");
  return `${answer.pattern}: ${plural(answer.elements.length, "lane")}, ${plural(answer.lane_bytes, "byte")} each\n` +
      `Shared memory, load: ${shared(answer.shared_load)}\nShared memory, store: ${shared(answer.shared_store)}\n` +
      `Global memory: ${plural(answer.global.sectors, "sector")}, ${answer.global.ideal} if dense`;
}

/// Two lines: the text, and ^ under the column, which counts bytes.
function caret(text, column) {
  const before = new TextDecoder().decode(new TextEncoder().encode(text).subarray(0, column));
  return column < 0 ? "" : `\n${text}\n${" ".repeat([...before].length)}^`;
}

function show(ask) {
  const part = (id) => document.getElementById(id);
  const request = Object.fromEntries(FIELDS.map((name) => [name, part(name).value]));
  for (const name of ["lanes", "along", "pad"]) request[name] = Math.trunc(Number(request[name])) || 0;
  try {
    const answer = ask(request);
    part("counts").textContent = counts(answer);
    part("banks").innerHTML = answer.banks;
    part("sectors").innerHTML = answer.sectors;
    part("drawn").hidden = answer.layout === "";
    if (answer.layout !== "") part("layout").src = "data:image/svg+xml," + encodeURIComponent(answer.layout);
    part("mistake").hidden = true;
    part("answer").hidden = false;
  } catch (error) {
    part("mistake").textContent = error.message + (error instanceof Refused ? caret(request.expression, error.column) : "");
    part("mistake").hidden = false;
    part("answer").hidden = true;
  }
  const changed = FIELDS.filter((name) => request[name] != part(name).dataset.first);
  history.replaceState(null, "", "#" + new URLSearchParams(changed.map((name) => [name, request[name]])));
}

async function start() {
  const form = document.getElementById("live");
  if (form === null) return;  // a test uses the engine only
  const part = (name) => document.getElementById(name);
  for (const name of FIELDS) part(name).dataset.first = part(name).value;
  for (const [name, value] of new URLSearchParams(location.hash.slice(1))) if (FIELDS.includes(name)) part(name).value = value;
  const ask = asking(await WebAssembly.compile(engineBytes()));
  form.addEventListener("input", () => show(ask));
  document.getElementById("examples").addEventListener("click", (event) => {
    if (event.target.tagName !== "A") return;
    event.preventDefault();
    for (const name of FIELDS) part(name).value = event.target.dataset[name === "expression" ? "e" : name] ?? part(name).dataset.first;
    show(ask);
  });
  show(ask);
}
start().catch((error) => {
  const mistake = document.getElementById("mistake");
  mistake.textContent = `The page's engine does not start: ${error.message}`;
  mistake.hidden = false;
});
