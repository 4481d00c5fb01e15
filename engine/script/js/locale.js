// What ECMA-402 adds to the language. The runtime has one locale: it would ignore the others, and options, silently.
(function (native, global) {
  const plain = (locale) => locale === undefined || /^en(-US)?$/.test(locale);
  const define = (prototype, name, value) => Object.defineProperty(prototype, name, { value, writable: true, configurable: true });
  const refuse = (what, instead) => native.refuse(`${what} is not supported; ${instead}`);

  const grouped = (text) => {
    const [, sign, whole, rest] = /^(-?)(\d+)(.*)$/.exec(text);
    const groups = [];
    for (let end = whole.length; end > 0; end -= 3) groups.unshift(whole.slice(end > 3 ? end - 3 : 0, end));
    return sign + groups.join(",") + rest;
  };
  // Up to three decimals, the last one rounded half away from zero.
  const decimal = (n) => grouped(n.toFixed(3).replace(/\.?0+$/, "").replace(/^-0$/, "-0"));
  define(Number.prototype, "toLocaleString", function toLocaleString(locale, options) {
    const n = Number.prototype.valueOf.call(this);
    if (!plain(locale) || options !== undefined) refuse("toLocaleString with a locale or options", "format the number yourself, as with toFixed(2)");
    if (Number.isNaN(n)) return "NaN";
    if (!Number.isFinite(n)) return n < 0 ? "-∞" : "∞";
    if (Math.abs(n) >= 1e21) return grouped(String(BigInt(n)));
    return Object.is(n, -0) ? "-0" : decimal(n);
  });
  define(BigInt.prototype, "toLocaleString", function toLocaleString(locale, options) {
    if (!plain(locale) || options !== undefined) refuse("toLocaleString with a locale or options", "format the number yourself");
    return grouped(BigInt.prototype.toString.call(this));
  });
  for (const name of ["toLocaleString", "toLocaleDateString", "toLocaleTimeString"]) {
    define(Date.prototype, name, { [name]() { refuse(`${name} of a date`, "use toISOString()"); } }[name]);
  }

  const compare = String.prototype.localeCompare;
  define(String.prototype, "localeCompare", function localeCompare(that, locale, options) {
    if (!plain(locale) || options !== undefined) refuse("localeCompare with a locale or options", "compare what toLowerCase() or a number gives");
    return compare.call(this, that);
  });
  for (const name of ["toLocaleUpperCase", "toLocaleLowerCase"]) {
    const convert = String.prototype[name];
    define(String.prototype, name, { [name](locale) {
      if (/^(tr|az|lt)\b/i.test(locale)) refuse(`${name} in ${locale}`, "it is done for English only");
      return convert.call(this);
    } }[name]);
  }
  return {};
})
