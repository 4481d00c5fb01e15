(function (native) {
  class TextEncoder {
    get encoding() { return "utf-8"; }
    encode(text = "") { return new Uint8Array(native.utf8(`${text}`)); }
  }

  class TextDecoder {
    #fatal;
    #ignoreBOM;
    constructor(label = "utf-8", { fatal = false, ignoreBOM = false } = {}) {
      if (!["utf-8", "utf8", "unicode-1-1-utf-8"].includes(`${label}`.trim().toLowerCase())) {
        throw new RangeError(`TextDecoder knows utf-8 only, not ${label}`);
      }
      this.#fatal = Boolean(fatal);
      this.#ignoreBOM = Boolean(ignoreBOM);
    }
    get encoding() { return "utf-8"; }
    get fatal() { return this.#fatal; }
    get ignoreBOM() { return this.#ignoreBOM; }
    decode(data) {
      if (data === undefined) return "";
      const bytes = native.bytes(data);
      if (bytes === undefined) throw new TypeError("TextDecoder.decode takes an ArrayBuffer or a view of one");
      return native.text(bytes, this.#fatal, this.#ignoreBOM);
    }
  }

  function known(value, what) {
    if (value === undefined) throw new TypeError(what);
    return value;
  }

  return {
    TextEncoder,
    TextDecoder,
    btoa: (text) => known(native.toBase64(`${text}`), "btoa takes characters below 256; encode the text to bytes first"),
    atob: (text) => known(native.fromBase64(`${text}`), "atob: the text is not base64"),
  };
})
