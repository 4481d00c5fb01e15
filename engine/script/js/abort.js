// AbortController and AbortSignal of the DOM standard, as far as fetch needs them.
(function (native, global) {
  class DOMException extends Error {
    #name;
    constructor(message = "", name = "Error") {
      super(message);
      this.#name = name;
    }
    get name() { return this.#name; }
  }

  const key = {};

  class AbortSignal {
    #listeners = [];
    #aborted = false;
    #reason;
    onabort = null;
    constructor(k) {
      if (k !== key) throw new TypeError("use new AbortController().signal or AbortSignal.timeout(ms)");
    }
    get aborted() { return this.#aborted; }
    get reason() { return this.#reason; }
    throwIfAborted() { if (this.#aborted) throw this.#reason; }
    addEventListener(type, listener) { if (type === "abort" && typeof listener === "function") this.#listeners.push(listener); }
    removeEventListener(type, listener) { this.#listeners = this.#listeners.filter((l) => l !== listener); }
    static give(k, signal, reason) {
      if (k !== key || signal.#aborted) return;
      signal.#aborted = true;
      signal.#reason = reason === undefined ? new DOMException("This operation was aborted", "AbortError") : reason;
      const listeners = signal.#listeners;
      signal.#listeners = [];
      const event = { type: "abort", target: signal };
      if (typeof signal.onabort === "function") signal.onabort(event);
      for (const listener of listeners) listener.call(signal, event);
    }
    static abort(reason) {
      const signal = new AbortSignal(key);
      AbortSignal.give(key, signal, reason);
      return signal;
    }
    static timeout(ms) {
      const signal = new AbortSignal(key);
      native.setTimeout(() => AbortSignal.give(key, signal, new DOMException("The operation timed out", "TimeoutError")), ms);
      return signal;
    }
    static any(signals) {
      const signal = new AbortSignal(key);
      for (const s of signals) {
        if (s.aborted) AbortSignal.give(key, signal, s.reason);
        else s.addEventListener("abort", () => AbortSignal.give(key, signal, s.reason));
      }
      return signal;
    }
  }

  class AbortController {
    #signal = new AbortSignal(key);
    get signal() { return this.#signal; }
    abort(reason) { AbortSignal.give(key, this.#signal, reason); }
  }

  return { AbortController, AbortSignal, DOMException };
})
