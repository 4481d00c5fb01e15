// URL and URLSearchParams of the URL Standard. Parsing is native.
(function (native) {
  class URLSearchParams {
    #pairs = [];
    #changed = () => {};
    constructor(init = "", changed = undefined) {
      if (changed !== undefined) this.#changed = changed;
      if (typeof init === "object" && init !== null) {
        const pairs = typeof init[Symbol.iterator] === "function" ? [...init] : Object.entries(init);
        for (const pair of pairs) {
          const [name, value, ...more] = pair;
          if (value === undefined || more.length > 0) throw new TypeError("URLSearchParams takes pairs of a name and a value");
          this.#pairs.push([`${name}`, `${value}`]);
        }
        return;
      }
      for (const part of `${init}`.replace(/^\?/, "").split("&")) {
        if (part === "") continue;
        const at = part.indexOf("=");
        const name = at < 0 ? part : part.slice(0, at);
        this.#pairs.push([native.decode(name), native.decode(at < 0 ? "" : part.slice(at + 1))]);
      }
    }
    get size() { return this.#pairs.length; }
    get(name) { return this.#pairs.find(([n]) => n === `${name}`)?.[1] ?? null; }
    getAll(name) { return this.#pairs.filter(([n]) => n === `${name}`).map(([, v]) => v); }
    has(name, value) { return this.#pairs.some(([n, v]) => n === `${name}` && (value === undefined || v === `${value}`)); }
    append(name, value) {
      this.#pairs.push([`${name}`, `${value}`]);
      this.#changed(this);
    }
    set(name, value) {
      const first = this.#pairs.find(([n]) => n === `${name}`);
      if (first === undefined) return this.append(name, value);
      first[1] = `${value}`;
      this.#pairs = this.#pairs.filter((pair) => pair === first || pair[0] !== `${name}`);
      this.#changed(this);
    }
    delete(name, value) {
      this.#pairs = this.#pairs.filter(([n, v]) => n !== `${name}` || (value !== undefined && v !== `${value}`));
      this.#changed(this);
    }
    sort() {
      this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
      this.#changed(this);
    }
    forEach(callback, self) { for (const [name, value] of this.#pairs) callback.call(self, value, name, this); }
    entries() { return this.#pairs.map((pair) => [...pair])[Symbol.iterator](); }
    keys() { return this.#pairs.map(([name]) => name)[Symbol.iterator](); }
    values() { return this.#pairs.map(([, value]) => value)[Symbol.iterator](); }
    [Symbol.iterator]() { return this.entries(); }
    toString() { return this.#pairs.map(([name, value]) => `${native.encode(name)}=${native.encode(value)}`).join("&"); }
  }

  class URL {
    #parts;
    #params;
    constructor(url, base) {
      const parts = native.parse(`${url}`, base === undefined ? undefined : `${base}`);
      if (typeof parts === "string") throw new TypeError(`"${url}" is ${parts}`);
      this.#parts = parts;
    }
    static canParse(url, base) { return typeof native.parse(`${url}`, base === undefined ? undefined : `${base}`) !== "string"; }
    static parse(url, base) { return URL.canParse(url, base) ? new URL(url, base) : null; }

    get href() { return this.#parts.href; }
    get origin() { return this.#parts.special ? `${this.#parts.protocol}//${this.host}` : "null"; }
    get protocol() { return this.#parts.protocol; }
    get username() { return this.#parts.username; }
    get password() { return this.#parts.password; }
    get host() { return this.#parts.hostname + (this.#parts.port === "" ? "" : `:${this.#parts.port}`); }
    get hostname() { return this.#parts.hostname; }
    get port() { return this.#parts.port; }
    get pathname() { return this.#parts.pathname; }
    get search() { return this.#parts.search === "?" ? "" : this.#parts.search; }
    get hash() { return this.#parts.hash === "#" ? "" : this.#parts.hash; }
    get searchParams() {
      this.#params ??= new URLSearchParams(this.#parts.search, (params) => {
        const query = String(params);
        this.#with({ search: query === "" ? "" : `?${query}` });
      });
      return this.#params;
    }

    // A setter writes the part anew and has the whole parsed; what does not parse changes nothing.
    #with(changed) {
      const { protocol, username, password, hostname, port, pathname, search, hash } = { ...this.#parts, ...changed };
      const user = username === "" && password === "" ? "" : `${username}${password === "" ? "" : `:${password}`}@`;
      const authority = hostname === "" ? "" : `//${user}${hostname}${port === "" ? "" : `:${port}`}`;
      const parts = native.parse(`${protocol}${authority}${pathname}${search}${hash}`);
      if (typeof parts !== "string") this.#parts = parts;
    }
    set href(value) {
      this.#parts = new URL(value).#parts;
      this.#params = undefined;
    }
    set protocol(value) {
      const parts = native.parse(`${value}`.replace(/:?$/, ":") + "//h");
      if (typeof parts !== "string" && parts.special === this.#parts.special) this.#with({ protocol: parts.protocol });
    }
    set username(value) { this.#with({ username: encodeURIComponent(value) }); }
    set password(value) { this.#with({ password: encodeURIComponent(value) }); }
    set host(value) {
      const [, hostname, , port] = /^(\[[^\]]*\]|[^:/?#]*)(:(\d*))?/.exec(`${value}`);
      if (hostname !== "") this.#with(port === undefined ? { hostname } : { hostname, port });
    }
    set hostname(value) { if (/^(\[[^\]]*\]|[^:/?#@]+)$/.test(`${value}`)) this.#with({ hostname: `${value}` }); }
    set port(value) { if (/^\d*$/.test(`${value}`)) this.#with({ port: `${value}` }); }
    set pathname(value) { this.#with({ pathname: `${value}`.replace(/^(?!\/)/, "/").replace(/\?/g, "%3F").replace(/#/g, "%23") }); }
    set search(value) {
      const text = `${value}`.replace(/^\?/, "").replace(/#/g, "%23");
      this.#with({ search: text === "" ? "" : `?${text}` });
      this.#params = undefined;
    }
    set hash(value) {
      const text = `${value}`.replace(/^#/, "");
      this.#with({ hash: text === "" ? "" : `#${text}` });
    }
    toString() { return this.href; }
    toJSON() { return this.href; }
  }

  return { URL, URLSearchParams };
})
