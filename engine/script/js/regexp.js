// RegExp as a script makes it at run time: its patterns are rewritten as those of literals are, and show what was written.
(function (native, global) {
  const Native = global.RegExp;
  const shown = Object.getOwnPropertyDescriptor(Native.prototype, "source").get;
  const text = (v) => (v === undefined ? "" : String(v));
  const fit = (args) => {
    const [pattern, flags] = args;
    const old = pattern instanceof Native;
    if (old && flags === undefined) return [pattern];
    const f = text(flags);
    return [native.pattern(old ? pattern.source : text(pattern), f), f];
  };
  function Fitted(pattern, flags) {
    if (new.target === undefined && pattern instanceof Native && flags === undefined && pattern.constructor === Fitted) return pattern;
    return Reflect.construct(Native, fit([pattern, flags]), new.target === undefined || new.target === Fitted ? Native : new.target);
  }
  Object.defineProperty(Fitted, "name", { value: "RegExp", configurable: true });
  Object.defineProperty(Fitted, "prototype", { value: Native.prototype, writable: false });
  Object.defineProperty(Fitted, Symbol.species, { get() { return this; }, configurable: true });
  Object.defineProperty(Native.prototype, "constructor", { value: Fitted, writable: true, configurable: true });
  Object.defineProperty(Native.prototype, "source", { get() { return native.written(shown.call(this)); }, configurable: true });
  Object.defineProperty(Native.prototype, "toString", { value: { toString() { return `/${this.source}/${this.flags}`; } }.toString, writable: true, configurable: true });
  // The old properties of the last match: the runtime has none of them.
  for (const name of ["input", "lastMatch", "lastParen", "leftContext", "rightContext", "$_", "$&", "$+", "$`", "$'", ...Array.from("123456789", (n) => "$" + n)]) {
    Object.defineProperty(Fitted, name, { get() { native.refuse(`RegExp.${name} is not supported; read what match or exec gives`); }, configurable: true });
  }
  return { RegExp: Fitted };
})
