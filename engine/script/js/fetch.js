// fetch of the Fetch standard as far as a step needs it: one request, its response whole in memory. It is the
// unmanaged way out: nothing is retried, and no idempotency key is added.
(function (native, global) {
  const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

  class Headers {
    #map = new Map();
    constructor(init) {
      if (init === undefined || init === null) return;
      const pairs = init instanceof Headers || Array.isArray(init) ? init : Object.entries(init);
      for (const [name, value] of pairs) this.append(name, value);
    }
    #name(name) {
      if (!token.test(name)) throw new TypeError(`"${name}" is not the name of a header`);
      return String(name).toLowerCase();
    }
    #value(value) {
      const text = String(value).replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, "");
      if (/[\0\r\n]/.test(text)) throw new TypeError("a header's value contains a line break");
      return text;
    }
    get(name) { return this.#map.get(this.#name(name)) ?? null; }
    has(name) { return this.#map.has(this.#name(name)); }
    set(name, value) { this.#map.set(this.#name(name), this.#value(value)); }
    delete(name) { this.#map.delete(this.#name(name)); }
    append(name, value) {
      const key = this.#name(name);
      const text = this.#value(value);
      this.#map.set(key, this.#map.has(key) ? `${this.#map.get(key)}, ${text}` : text);
    }
    forEach(callback, self) { for (const [name, value] of this) callback.call(self, value, name, this); }
    entries() { return [...this.#map].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))[Symbol.iterator](); }
    keys() { return [...this.entries()].map(([name]) => name)[Symbol.iterator](); }
    values() { return [...this.entries()].map(([, value]) => value)[Symbol.iterator](); }
    [Symbol.iterator]() { return this.entries(); }
  }

  class Response {
    #body;
    #broken;
    #used = false;
    #head;
    constructor(body, init = {}) {
      const given = typeof body === "object" && body !== null && body.internal === key;
      this.#head = given ? body.head : { status: 200, statusText: "", url: "", redirected: false, ...init };
      this.#body = given ? body.body : encode(body).bytes ?? native.utf8("");
      this.#broken = given ? body.broken : undefined;
      this.headers = new Headers(this.#head.headers);
    }
    get status() { return this.#head.status; }
    get statusText() { return this.#head.statusText ?? ""; }
    get ok() { return this.status >= 200 && this.status < 300; }
    get url() { return this.#head.url ?? ""; }
    get redirected() { return this.#head.redirected ?? false; }
    get bodyUsed() { return this.#used; }
    async #read() {
      if (this.#used) throw new TypeError("the response's body has already been read");
      this.#used = true;
      if (this.#broken !== undefined) throw native.failed("reading the body failed", this.#broken);
      return this.#body;
    }
    async arrayBuffer() { return this.#read(); }
    async bytes() { return new Uint8Array(await this.#read()); }
    async text() { return native.text(await this.#read()); }
    async json() { return native.json(await this.#read()); }
    clone() {
      if (this.#used) throw new TypeError("the response's body has already been read");
      return new Response({ internal: key, head: this.#head, body: this.#body.slice(0), broken: this.#broken });
    }
  }
  const key = {};

  // encode gives a body's bytes or text, and the content type that it implies.
  function encode(body) {
    if (body === undefined || body === null) return {};
    const bytes = native.bytes(body);
    if (bytes !== undefined) return { bytes };
    if (body instanceof global.URLSearchParams) {
      return { text: String(body), bytes: native.utf8(String(body)), type: "application/x-www-form-urlencoded;charset=UTF-8" };
    }
    if (typeof body === "object" && Object.prototype.toString === body.toString) {
      throw new TypeError("the body is an object; pass JSON.stringify(object)");
    }
    return { text: String(body), bytes: native.utf8(String(body)), type: "text/plain;charset=UTF-8" };
  }

  function describe(input, init) {
    const method = String(init.method ?? "GET");
    const upper = method.toUpperCase();
    const request = { url: String(input), redirect: init.redirect, headers: {} };
    request.method = ["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"].includes(upper) ? upper : method;
    const headers = new Headers(init.headers);
    const { text, bytes, type } = encode(init.body);
    if (bytes !== undefined && (upper === "GET" || upper === "HEAD")) throw new TypeError(`a ${upper} request takes no body`);
    if (type !== undefined && !headers.has("content-type")) headers.set("content-type", type);
    for (const [name, value] of headers) request.headers[name] = value;
    if (text !== undefined) request.text = text;
    else if (bytes !== undefined) request.bytesBase64 = native.base64(bytes);
    return request;
  }


  function fetch(input, init = {}) {
    let sent;
    const signal = init.signal ?? undefined;
    try {
      native.check(init);
      const request = describe(input, init);
      if (signal !== undefined) signal.throwIfAborted();
      sent = native.send(request);
    } catch (error) {
      return Promise.reject(error);
    }
    return new Promise((resolve, reject) => {
      sent.done.then(
        ({ head, body, broken }) => resolve(new Response({ internal: key, head, body, broken })),
        (error) => reject(native.failed("fetch failed", error)),
      );
      if (signal !== undefined) {
        signal.addEventListener("abort", () => {
          native.cancel(sent.ticket);
          reject(signal.reason);
        });
      }
    });
  }

  return { fetch, Headers, Response };
})
