// What a script catches when a call of a service fails.
(function () {
  class WomlServiceError extends Error {
    constructor(message, fields) {
      super(message);
      Object.assign(this, fields);
    }
  }
  Object.defineProperty(WomlServiceError.prototype, "name", { value: "WomlServiceError", writable: true, configurable: true });
  return { WomlServiceError };
})
