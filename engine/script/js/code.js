// Code in strings: it would run without the checks that a script goes through.
(function (native, global) {
  const refuse = (what) => native.refuse(`${what} is not supported: code in strings is not run; write it in the script`);
  const instead = (what, prototype) => {
    const f = { [what]: function () { refuse(what); } }[what];
    Object.defineProperty(f, "prototype", { value: prototype, writable: false });
    return f;
  };
  for (const f of [function () {}, async function () {}, function* () {}]) {
    const prototype = Object.getPrototypeOf(f);
    const constructor = instead(prototype.constructor.name, prototype);
    Object.defineProperty(prototype, "constructor", { value: constructor, writable: true, configurable: true });
  }
  return { eval: { eval() { refuse("eval"); } }.eval, Function: Function.prototype.constructor };
})
