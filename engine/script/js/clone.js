(function () {
  const errors = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };

  function refuse(what) {
    throw new TypeError(`structuredClone: ${what} cannot be cloned`);
  }

  // The structured clone algorithm of the HTML standard, for the types that this runtime has.
  function clone(value, seen) {
    if (typeof value === "function" || typeof value === "symbol") refuse(`a ${typeof value}`);
    if (typeof value !== "object" || value === null) return value;
    if (seen.has(value)) return seen.get(value);
    const keep = (copy) => (seen.set(value, copy), copy);
    if (value instanceof Date) return keep(new Date(value.getTime()));
    if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags));
    if (value instanceof String || value instanceof Number || value instanceof Boolean) return keep(Object(value.valueOf()));
    if (value instanceof ArrayBuffer) return keep(value.slice(0));
    if (ArrayBuffer.isView(value)) {
      const buffer = clone(value.buffer, seen);
      const length = value instanceof DataView ? value.byteLength : value.length;
      return keep(new value.constructor(buffer, value.byteOffset, length));
    }
    if (value instanceof Map) {
      const copy = keep(new Map());
      for (const [k, v] of [...value]) copy.set(clone(k, seen), clone(v, seen));
      return copy;
    }
    if (value instanceof Set) {
      const copy = keep(new Set());
      for (const v of [...value]) copy.add(clone(v, seen));
      return copy;
    }
    if (value instanceof Error) {
      const copy = keep(new (errors[value.name] ?? Error)(value.message));
      if ("cause" in value) copy.cause = clone(value.cause, seen);
      return copy;
    }
    if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet) refuse(`a ${value.constructor.name}`);
    const copy = keep(Array.isArray(value) ? new Array(value.length) : {});
    for (const key of Object.keys(value)) {
      Object.defineProperty(copy, key, { value: clone(value[key], seen), writable: true, enumerable: true, configurable: true });
    }
    return copy;
  }

  return {
    structuredClone: (value) => clone(value, new Map()),
    queueMicrotask(callback) {
      if (typeof callback !== "function") throw new TypeError("queueMicrotask takes a function");
      Promise.resolve().then(() => callback());
    },
  };
})
