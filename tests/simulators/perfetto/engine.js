// Asks Perfetto's trace processor, the WebAssembly build of its UI, about traces.
//
//   node engine.js < request.json > answer.json
//
// request: {"bundle": folder of engine_bundle.js, "files": [path], "queries": {name: SQL}}
// answer:  [{"file": path, "error": text or null, "results": {name: {"columns": [text],
//           "rows": [[cell]], "error": text or null}}}]
//
// One process answers for all files: the engine is reset between them. Field numbers are
// those of google/perfetto protos/perfetto/trace_processor/trace_processor.proto.
"use strict";

const fs = require("fs");
const path = require("path");
const vm = require("vm");

const APPEND = 1, FINALIZE = 2, QUERY = 3, RESET = 11;
const CHUNK = 16 << 20;

// --- protobuf, as much of it as is needed -----------------------------------------

function varint(value) {
  const out = [];
  let rest = BigInt(value);
  for (; rest > 127n; rest >>= 7n) out.push(Number(rest & 127n) | 128);
  out.push(Number(rest));
  return Buffer.from(out);
}

function field(number, value) {
  if (Buffer.isBuffer(value))
    return Buffer.concat([varint((number << 3) | 2), varint(value.length), value]);
  return Buffer.concat([varint(number << 3), varint(value)]);
}

function readVarint(cursor) {
  let value = 0n, shift = 0n, byte;
  do {
    byte = cursor.data[cursor.at++];
    value |= BigInt(byte & 127) << shift;
    shift += 7n;
  } while (byte & 128);
  return BigInt.asIntN(64, value);
}

function* fields(data) {
  const cursor = { data, at: 0 };
  while (cursor.at < data.length) {
    const key = Number(readVarint(cursor));
    if ((key & 7) === 0) {
      yield [key >> 3, readVarint(cursor)];
      continue;
    }
    const size = { 1: 8, 5: 4 }[key & 7] ?? Number(readVarint(cursor));
    yield [key >> 3, data.subarray(cursor.at, cursor.at + size)];
    cursor.at += size;
  }
}

function* varints(data) {
  if (typeof data === "bigint") return yield data;
  const cursor = { data, at: 0 };
  while (cursor.at < data.length) yield readVarint(cursor);
}

function first(data, number) {
  for (const [key, value] of fields(data)) if (key === number) return value;
  return null;
}

// --- the engine ---------------------------------------------------------------------

// The bundle believes that it is the worker of a page, and fetches its module as one.
async function load(bundle) {
  const read = (name) => fs.readFileSync(path.join(bundle, path.basename(name)));
  Object.assign(globalThis, {
    self: globalThis,
    WorkerGlobalScope: function () {},
    location: { href: "file:///" },
    XMLHttpRequest: class {
      open(_, name) {
        this.name = name;
      }
      send() {
        const data = read(this.name);
        this.response = data.buffer.slice(data.byteOffset, data.byteOffset + data.length);
      }
    },
  });
  globalThis.process = undefined; // what Node has and a page has not
  console.log = console.warn = () => {};
  vm.runInThisContext(read("engine_bundle.js").toString("utf8"));
  await new Promise((done) => setImmediate(done)); // it is ready after its promises
}

class Engine {
  constructor() {
    this.replies = [];
    this.rest = Buffer.alloc(0);
    this.fresh = true;
    this.port = { postMessage: (data) => this.replies.push(Buffer.from(data)) };
    globalThis.onmessage({ data: this.port });
  }

  // Sends one request; the engine has answered when this returns.
  ask(method, ...args) {
    const request = Buffer.concat([field(2, method), ...args]);
    this.replies = [];
    const message = field(1, request);
    this.port.onmessage({ data: new Uint8Array(message) });
    const answers = [];
    for (const [, rpc] of fields(Buffer.concat(this.replies))) {
      const fatal = first(rpc, 5);
      if (fatal) throw new Error(fatal.toString());
      answers.push(rpc);
    }
    return answers;
  }

  open(file) {
    if (!this.fresh) this.ask(RESET);
    this.fresh = false;
    const handle = fs.openSync(file, "r");
    try {
      const chunk = Buffer.alloc(CHUNK);
      for (let size; (size = fs.readSync(handle, chunk)) > 0; ) {
        const [answer] = this.ask(APPEND, field(101, chunk.subarray(0, size)));
        const result = first(answer, 201);
        const error = result && first(result, 2);
        if (error) return error.toString();
      }
    } finally {
      fs.closeSync(handle);
    }
    for (const answer of this.ask(FINALIZE)) {
      const result = first(answer, 212);
      const error = result && first(result, 1);
      if (error) return error.toString();
    }
    return null;
  }

  query(sql) {
    const table = { columns: [], rows: [], error: null };
    const cells = [];
    for (const answer of this.ask(QUERY, field(103, field(1, Buffer.from(sql))))) {
      for (const [key, value] of fields(first(answer, 203) ?? Buffer.alloc(0))) {
        if (key === 1) table.columns.push(value.toString());
        else if (key === 2) table.error = value.toString() || null;
        else if (key === 3) cells.push(...batch(value));
      }
    }
    const width = table.columns.length;
    for (let at = 0; width && at < cells.length; at += width)
      table.rows.push(cells.slice(at, at + width));
    return table;
  }
}

function* batch(data) {
  const kinds = [], whole = [], real = [], blobs = [];
  let texts = [];
  for (const [key, value] of fields(data)) {
    if (key === 1) kinds.push(...varints(value));
    else if (key === 2) whole.push(...varints(value));
    else if (key === 3)
      for (let at = 0; at < value.length; at += 8) real.push(value.readDoubleLE(at));
    else if (key === 4) blobs.push(value.toString("hex"));
    else if (key === 5) texts = value.toString().split("\0");
  }
  const next = { 2: whole.values(), 3: real.values(), 4: texts.values(), 5: blobs.values() };
  for (const kind of kinds)
    yield kind === 1n ? null : next[Number(kind)].next().value;
}

// Integers of 64 bits are written with all their digits.
function json(value) {
  if (typeof value === "bigint") return value.toString();
  if (Array.isArray(value)) return `[${value.map(json).join(",")}]`;
  if (value && typeof value === "object") {
    const pairs = Object.entries(value);
    return `{${pairs.map(([key, one]) => `${JSON.stringify(key)}:${json(one)}`).join(",")}}`;
  }
  return JSON.stringify(value ?? null);
}

async function main() {
  const request = JSON.parse(fs.readFileSync(0, "utf8"));
  await load(request.bundle);
  const engine = new Engine();
  const answers = [];
  for (const file of request.files) {
    const answer = { file, error: engine.open(file), results: {} };
    if (answer.error === null)
      for (const [name, sql] of Object.entries(request.queries))
        answer.results[name] = engine.query(sql);
    answers.push(answer);
  }
  fs.writeSync(1, json(answers));
}

main();
