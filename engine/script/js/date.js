// Date as it reads text. ECMA-262 fixes one format; other engines agree on a few more, and those are read. Anything else
// is an invalid date: the runtime would guess, and other than they do.
(function (native, global) {
  const Native = global.Date;
  const iso = /^(?:\d{4}|[+-]\d{6})(?:-(\d\d)(?:-(\d\d))?)?(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:?\d\d)?)?$/;
  const time = "(?:,?\\s+(\\d{1,2}):(\\d\\d)(?::(\\d\\d))?(?:\\s([AP]M))?(?:(?:\\s?(?:Z|[+-]\\d\\d:?\\d\\d)|\\s(?:UTC|GMT|UT|[ECMP][SD]T|(?:UTC|GMT)[+-]\\d\\d:?\\d\\d))(?:\\s+\\([^()]*\\))?)?)?$";
  const weekday = "^(?:(?:sun|mon|tue|wed|thu|fri|sat)[a-z]*,?\\s+)?";
  const month = "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)";
  const year = "[1-9]\\d{3}";
  let named, numbered; // made when first needed
  const forms = () => {
    named = [`${month}\\s+(\\d{1,2}),?\\s+${year}`, `(\\d{1,2})(?:\\s+|-)${month}(?:\\s+|-)${year}`].map((f) => new RegExp(weekday + f + time, "i"));
    numbered = [`(\\d{1,2})/(\\d{1,2})/${year}`, `${year}/(\\d{1,2})/(\\d{1,2})`, `${year}-(\\d{1,2})-(\\d{1,2})`].map((f) => new RegExp("^" + f + time, "i"));
  };
  const within = (text, low, high) => text === undefined || (Number(text) >= low && Number(text) <= high);
  const clock = (hour, minute, second, half) => (half ? within(hour, 1, 12) : within(hour, 0, 23)) && within(minute, 0, 59) && within(second, 0, 59);

  const known = (text) => {
    let m = iso.exec(text);
    if (m) {
      const midnight = m[3] === "24" && m[4] === "00" && within(m[5], 0, 0);
      return within(m[1], 1, 12) && within(m[2], 1, 31) && (clock(m[3], m[4], m[5]) || midnight) && !text.startsWith("-000000");
    }
    if (!named) forms();
    for (const form of named) if ((m = form.exec(text))) return within(m[1], 1, 31) && clock(m[2], m[3], m[4], m[5]);
    for (const form of numbered) if ((m = form.exec(text))) return within(m[1], 1, 12) && within(m[2], 1, 31) && clock(m[3], m[4], m[5], m[6]);
    return false;
  };
  const read = (text) => (known(text) ? Native.parse(iso.test(text) ? text.toUpperCase() : text) : NaN);

  function Fitted(year, month, date, hours, minutes, seconds, ms) {
    if (new.target === undefined) return Native();
    let args = arguments;
    if (args.length === 1 && !(year instanceof Native)) {
      const value = typeof year === "object" && year !== null ? primitive(year) : year;
      args = [typeof value === "string" ? read(value) : value];
    }
    return Reflect.construct(Native, args, new.target === Fitted ? Native : new.target);
  }
  const primitive = (o) => {
    const convert = o[Symbol.toPrimitive];
    if (convert !== undefined && convert !== null) return convert.call(o, "default");
    const v = o.valueOf();
    return typeof v === "object" && v !== null ? String(o) : v;
  };
  Object.defineProperty(Fitted, "name", { value: "Date", configurable: true });
  Object.defineProperty(Fitted, "prototype", { value: Native.prototype, writable: false });
  for (const name of ["now", "UTC"]) Object.defineProperty(Fitted, name, { value: Native[name], writable: true, configurable: true });
  Object.defineProperty(Fitted, "parse", { value: { parse(text) { return read(String(text)); } }.parse, writable: true, configurable: true });
  Object.defineProperty(Native.prototype, "constructor", { value: Fitted, writable: true, configurable: true });
  return { Date: Fitted };
})
